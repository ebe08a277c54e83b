// The memory of a process group after one of its ranks has overwritten parts of it: the input gives positions and
// bytes. The other rank takes part in exchanges, receives and sends. Each ends with an error, or with bytes from the
// buffers of the sending rank; nothing else is read.
#include <algorithm>
#include <cstring>

#include "group_of_two.hpp"

namespace {

using namespace distrun;
using namespace distrun::collectives;
using fuzz::GroupOfTwo;

constexpr std::size_t kHead = 4;  // bytes of an instruction: structure (1), position in it (2), number of bytes (1)

struct Region {
  void* begin;
  std::size_t size;
};

// What rank 1 shows before it overwrites: two calls as rank 0 makes them, and a sent message.
void show_calls(const GroupOfTwo& world) {
  shm::Area& area = world.area;
  for (std::uint64_t exchange : {0, 1}) {
    shm::SlotHeader& header = area.header(1, exchange) = shm::SlotHeader();
    header.bytes = GroupOfTwo::kBytes;
    header.kind = world.call.kind;
    header.dtype = world.call.dtype;
    area.part(1, exchange, 0) = {0, GroupOfTwo::kBytes};
  }
  area.seat(1).come = area.seat(1).left = 2;
  shm::MailBox& box = area.mail_box(1, 0);
  box.messages[0].head.tag = GroupOfTwo::kTag;
  box.messages[0].head.size = 16;
  box.messages[0].head.dtype = DType::U8;
  box.written = 1;
}

Region region(shm::Area& area, std::uint8_t which) {
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

void scribble(shm::Area& area, const std::uint8_t* data, std::size_t size) {
  while (size > kHead) {
    const Region into = region(area, data[0]);
    const std::size_t at = static_cast<std::size_t>(data[1] | data[2] << 8) % into.size;
    const std::size_t count = std::min<std::size_t>({data[3], size - kHead, into.size - at});
    std::memcpy(static_cast<std::uint8_t*>(into.begin) + at, data + kHead, count);
    data += kHead + count;
    size -= kHead + count;
  }
}

bool is_in_a_box(shm::Area& area, ConstBytes bytes) {
  const auto& messages = area.mail_box(1, 0).messages;
  return std::any_of(messages.begin(), messages.end(), [&](const shm::MessageSlot& message) {
    return bytes.size() <= message.inside.size() && std::memcmp(message.inside.data(), bytes.data(), bytes.size()) == 0;
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  GroupOfTwo world;
  world.take_seats();
  show_calls(world);
  scribble(world.area, data, size);
  const shm::Bells bells(world.memory, world.group);
  world.exchange(bells);
  world.write_letters(bells, [&](ConstBytes bytes) { return is_in_a_box(world.area, bytes); });
  return 0;
}
