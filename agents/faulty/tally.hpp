#pragma once
// Counts faults by what was done and by kind of message.
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <string>

#include <distrun/common/wire/fault_plan.hpp>

namespace distrun::agents::faulty {

enum class Done : std::uint8_t {
  Failed,
  Delayed,
  Dropped,
  Duplicated,
  Reordered,
  Corrupted,
  CorruptedWrong,       // corrupted replies that decode to another value
  CorruptedUnreadable,  // corrupted replies that no longer decode
  SentAtOnce,           // should have been held back, but the limit was reached
  LostLater,            // held back, then refused by the inner agent
};
inline constexpr std::size_t kDone = 10;
const char* name_of(Done done) noexcept;

// Thread-safe.
class Tally {
 public:
  void count(Done done, wire::FaultKind kind) noexcept { ++at(done, kind); }
  std::uint64_t of(Done done, wire::FaultKind kind) const noexcept {
    return counts_[static_cast<std::size_t>(done)][static_cast<std::size_t>(kind)];
  }
  // Adds the counts that are not 0, as "faulty.dropped.fork_request".
  void add_debug_info(std::map<std::string, std::string>& info) const;

 private:
  std::atomic<std::uint64_t>& at(Done done, wire::FaultKind kind) noexcept {
    return counts_[static_cast<std::size_t>(done)][static_cast<std::size_t>(kind)];
  }

  std::array<std::array<std::atomic<std::uint64_t>, wire::kFaultKinds>, kDone> counts_{};
};

}  // namespace distrun::agents::faulty
