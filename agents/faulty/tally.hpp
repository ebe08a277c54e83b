#pragma once
// What was done to how many messages, by kind.
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <string>

#include <distrun/common/base/fault_plan.hpp>

namespace distrun::agents::faulty {

enum class Done : std::uint8_t {
  Failed,
  Delayed,
  Dropped,
  Duplicated,
  Reordered,
  Lied,
  LiedWrong,       // of those: replies with another value
  LiedUnreadable,  // and with what is none
  SentAtOnce,      // though to be held back: too much was
  LostLater,       // held back, and then the agent did not take it
};
inline constexpr std::size_t kDone = 10;
const char* name_of(Done done) noexcept;

// Any thread.
class Tally {
 public:
  void count(Done done, base::FaultKind kind) noexcept { ++at(done, kind); }
  std::uint64_t of(Done done, base::FaultKind kind) const noexcept {
    return counts_[static_cast<std::size_t>(done)][static_cast<std::size_t>(kind)];
  }
  // "faulty.dropped.fork_request": what is not 0.
  void add_debug_info(std::map<std::string, std::string>& info) const;

 private:
  std::atomic<std::uint64_t>& at(Done done, base::FaultKind kind) noexcept {
    return counts_[static_cast<std::size_t>(done)][static_cast<std::size_t>(kind)];
  }

  std::array<std::array<std::atomic<std::uint64_t>, base::kFaultKinds>, kDone> counts_{};
};

}  // namespace distrun::agents::faulty
