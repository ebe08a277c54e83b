#pragma once
// Rank 0 of a process group of two in shared memory, for fuzz targets that play rank 1: it takes part in exchanges and
// receives messages. Each call ends at once, with an error or with bytes that rank 1 has shown.
#include <algorithm>
#include <climits>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/collectives/shm/exchange.hpp>
#include <distrun/runtime/collectives/shm/mail.hpp>

#include "fuzz.hpp"

namespace distrun::fuzz {

namespace shm = collectives::shm;
using collectives::Call;
using collectives::ConstBytes;

struct GroupOfTwo {
  static constexpr std::size_t kBytes = 512, kLarge = 100'000;
  static constexpr std::uint64_t kTag = 5;
  static constexpr int kNoProcess = INT_MAX;

  GroupOfTwo() {
    group.name = "world";
    group.ranks = {0, 1};
    call.kind = collectives::CallKind::AllReduce;
    call.in = {mine};
    call.out = {result};
  }

  void take_seats() {
    area.take_seat(0);
    area.seat(1).pid = kNoProcess;  // nothing is read on this machine
    area.pid_of(1);
  }

  // Returns whether the body throws no Error. What an Error says must be printable.
  template <class Body>
  static bool succeeds(const Body& body) {
    try {
      body();
      return true;
    } catch (const Error& error) {
      require(std::strchr(error.what(), '\x1b') == nullptr, "what an error says is printable");
      return false;
    }
  }

  void exchange(const shm::Bells& bells) {
    shm::Exchanges exchanges(memory, group, bells);
    call.deadline = base::TimePoint();
    const shm::Contribution contribution{.parts = call.in, .largest = kBytes};
    if (succeeds([&] { exchanges.copy(call, contribution, {{1, 0, result}}); })) {
      const shm::Part& part = area.part(1, 1, 0);
      require(part.at <= shm::kRoom - kBytes, "what is taken is in the buffer");
      require(std::memcmp(result.data(), area.room(1, 1) + part.at, kBytes) == 0, "it is what was there");
    }
    exchanges.begin_call();
    succeeds([&] { exchanges.reduce(call, contribution, 0, result); });
    for (const int place : exchanges.missing()) require(place == 0 || place == 1, "an absent rank is one of the ranks");
    if (const auto missed = exchanges.why_missed()) succeeds([&] { std::rethrow_exception(missed); });
  }

  // Receives a message of each kind, then sends two. `was_sent` says whether rank 1 has shown these bytes.
  void write_letters(const shm::Bells& bells, const std::function<bool(ConstBytes)>& was_sent) const {
    const auto mail = std::make_shared<shm::Mail>(memory, group, bells);
    mail->use_peer_memory(!area.is_mirrored());
    for (const std::size_t bytes : {std::size_t{16}, shm::kLetterRoom, shm::kLetterRoom + 1, kLarge}) {
      std::vector<std::byte> into(bytes, std::byte{1});
      const auto receiving = mail->receive({bytes == 16 ? -1 : 1, kTag, DType::U8, {}}, into);
      const bool is_received = succeeds([&] { receiving->finish(base::TimePoint()); });
      require(!is_received || was_sent(into), "a message that was received was sent");
    }
    const std::vector<std::byte> large(kLarge);
    for (const std::size_t bytes : {std::size_t{1}, kLarge}) {
      const auto sending = mail->send({1, kTag, DType::U8, {}}, ConstBytes(large).first(bytes));
      succeeds([&] { sending->finish(base::TimePoint()); });
    }
  }

  const std::shared_ptr<shm::Area> memory = std::make_shared<shm::Area>(2);
  shm::Area& area = *memory;
  collectives::GroupInfo group;
  Call call;
  std::vector<std::byte> mine = std::vector<std::byte>(kBytes, std::byte{1});
  std::vector<std::byte> result = std::vector<std::byte>(kBytes);
};

}  // namespace distrun::fuzz
