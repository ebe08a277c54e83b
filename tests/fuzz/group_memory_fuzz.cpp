// The memory of a process group after one of its ranks has overwritten parts of it: the input gives positions and
// bytes. The other rank takes part in exchanges, receives and sends. Each ends with an error, or with bytes from the
// buffers of the sending rank; nothing else is read.
#include <algorithm>
#include <climits>
#include <cstring>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/collectives/shm/exchange.hpp>
#include <distrun/runtime/collectives/shm/mail.hpp>

#include "fuzz.hpp"

namespace {

using namespace distrun;
using namespace distrun::collectives;
using fuzz::require;

constexpr std::size_t kHead = 4;  // bytes of an instruction: structure (1), position in it (2), number of bytes (1)
constexpr std::size_t kBytes = 4096, kLarge = 100'000;
constexpr std::uint64_t kTag = 5;

struct Region {
  void* begin;
  std::size_t size;
};

// Rank 0, and what rank 1 has shown before it overwrites: two identical calls, and a sent message.
struct World {
  World() {
    area.take_seat(0);
    area.seat(1).pid = INT_MAX;  // no such process: nothing is read on this machine
    area.pid_of(1);
    group.name = "world";
    group.ranks = {0, 1};
    call.kind = CallKind::AllReduce;
    call.in = {mine};
    call.out = {result};
    for (std::uint64_t exchange : {0, 1}) {
      shm::SlotHeader& header = area.header(1, exchange) = shm::SlotHeader();
      header.bytes = kBytes;
      header.kind = call.kind;
      header.dtype = call.dtype;
      area.part(1, exchange, 0) = {0, kBytes};
    }
    area.seat(1).come = area.seat(1).left = 2;
    shm::MailBox& box = area.mail_box(1, 0);
    box.messages[0].head.tag = kTag;
    box.messages[0].head.size = 16;
    box.messages[0].head.dtype = DType::U8;
    box.written = 1;
  }
  Region region(std::uint8_t which) const {
    shm::MailBox &from = area.mail_box(1, 0), &to = area.mail_box(0, 1);
    const Region all[] = {{&area.seat(1), sizeof(shm::Seat)},
                          {&area.header(1, which / 8U), sizeof(shm::SlotHeader)},
                          {&area.part(1, which / 8U, 0), sizeof(shm::Part)},
                          {&from, offsetof(shm::MailBox, messages)},
                          {&from.messages[which / 8U % shm::kMessages].head, sizeof(shm::MessageHeader)},
                          {area.seat(1).reads.data(), sizeof area.seat(1).reads},
                          {&to, offsetof(shm::MailBox, messages)},
                          {&area.seat(0), sizeof(shm::Seat)}};
    return all[which % 8];
  }

  const std::shared_ptr<shm::Area> memory = std::make_shared<shm::Area>(2);
  shm::Area& area = *memory;
  GroupInfo group;
  Call call;
  std::vector<std::byte> mine = std::vector<std::byte>(kBytes, std::byte{1});
  std::vector<std::byte> result = std::vector<std::byte>(kBytes);
};

void scribble(const World& world, const std::uint8_t* data, std::size_t size) {
  while (size > kHead) {
    const Region region = world.region(data[0]);
    const std::size_t at = static_cast<std::size_t>(data[1] | data[2] << 8) % region.size;
    const std::size_t count = std::min<std::size_t>({data[3], size - kHead, region.size - at});
    std::memcpy(static_cast<std::uint8_t*>(region.begin) + at, data + kHead, count);
    data += kHead + count;
    size -= kHead + count;
  }
}

template <class Body>
bool succeeds(const Body& body) {
  try {
    body();
    return true;
  } catch (const Error& error) {
    require(std::strchr(error.what(), '\x1b') == nullptr, "what an error says is printable");
    return false;
  }
}

void exchange(World& world, const shm::Bells& bells) {
  shm::Exchanges exchanges(world.memory, world.group, bells);
  world.call.deadline = base::TimePoint();
  const shm::Contribution contribution{.parts = world.call.in, .largest = kBytes};
  if (succeeds([&] { exchanges.copy(world.call, contribution, {{1, 0, world.result}}); })) {
    const std::byte* const room = world.area.room(1, 1);
    require(world.area.part(1, 1, 0).at <= shm::kRoom - kBytes, "what is taken is in the buffer");
    require(std::memcmp(world.result.data(), room + world.area.part(1, 1, 0).at, kBytes) == 0, "it is what was there");
  }
  exchanges.begin_call();
  succeeds([&] { exchanges.reduce(world.call, contribution, 0, world.result); });
  for (const int place : exchanges.missing()) require(place == 0 || place == 1, "an absent rank is one of the ranks");
  if (const auto missed = exchanges.why_missed()) succeeds([&] { std::rethrow_exception(missed); });
}

bool is_in_a_box(const World& world, const std::vector<std::byte>& bytes) {
  const auto& messages = world.area.mail_box(1, 0).messages;
  return std::any_of(messages.begin(), messages.end(), [&](const shm::MessageSlot& message) {
    return bytes.size() <= message.inside.size() && std::memcmp(message.inside.data(), bytes.data(), bytes.size()) == 0;
  });
}

void receive(const World& world, shm::Mail& mail, int from, std::size_t bytes) {
  std::vector<std::byte> into(bytes, std::byte{1});
  const auto receiving = mail.receive({from, kTag, DType::U8, {}}, into);
  if (succeeds([&] { receiving->finish(base::TimePoint()); })) {
    require(is_in_a_box(world, into), "a message that was received was sent");
  }
}

void write_letters(const World& world, const shm::Bells& bells) {
  const auto mail = std::make_shared<shm::Mail>(world.memory, world.group, bells);
  mail->use_peer_memory(true);
  for (const std::size_t bytes : {std::size_t{16}, shm::kLetterRoom, shm::kLetterRoom + 1, kLarge}) {
    receive(world, *mail, bytes == 16 ? -1 : 1, bytes);
  }
  const std::vector<std::byte> large(kLarge);
  for (const std::size_t bytes : {std::size_t{1}, kLarge}) {
    const auto sending = mail->send({1, kTag, DType::U8, {}}, ConstBytes(large).first(bytes));
    succeeds([&] { sending->finish(base::TimePoint()); });
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  World world;
  scribble(world, data, size);
  const shm::Bells bells(world.memory, world.group);
  exchange(world, bells);
  write_letters(world, bells);
  return 0;
}
