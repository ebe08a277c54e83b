#pragma once
// How far the monotonic clock of a peer is ahead of this process's, from pings and their answers. An answer that came
// quickly says it best: on the way there and back the clocks can differ by half of the round trip at most. Clocks
// drift, so the best answer so far becomes worse with its age, until a younger one is better.
#include <optional>

#include <distrun/common/base/clock.hpp>

namespace distrun::nodes {

struct Offset {
  base::Nanoseconds offset{};  // the peer's clock minus this one
  base::Nanoseconds error{};   // at most so wrong, in either direction
};

// Returns how much the clocks of two machines may drift apart in that time.
base::Nanoseconds drift_over(base::Nanoseconds time) noexcept;

class ClockOffset {
 public:
  // All in nanoseconds: when the ping was sent and its answer received, by this clock; when the ping was received and
  // its answer sent, by the peer's.
  struct Sample {
    std::int64_t sent = 0;
    std::int64_t peer_received = 0;
    std::int64_t peer_sent = 0;
    std::int64_t received = 0;
  };
  // Ignores a sample that cannot be: the peer may send any numbers.
  void add(const Sample& sample);
  // Returns nothing before the first sample.
  std::optional<Offset> at(base::TimePoint now) const;

 private:
  std::optional<Offset> best_;
  std::int64_t best_at_ = 0;
};

}  // namespace distrun::nodes
