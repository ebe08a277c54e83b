#pragma once
// Counts how long a peer has been silent, in looks: one that comes late counts as one, so the time in which this
// process did not run is not the peer's.
#include <algorithm>
#include <cstdint>
#include <string>

#include <distrun/common/base/clock.hpp>

namespace distrun::nodes {

class Silence {
 public:
  // `limit` is rounded up to whole looks.
  Silence(base::Nanoseconds limit, base::Nanoseconds look_every)
      : limit_(limit),
        looks_max_(std::max<std::int64_t>((limit + look_every - base::Nanoseconds(1)) / look_every, 1)) {}

  // `has_heard`: the peer has given a sign of life since the last look.
  void count(bool has_heard) noexcept { looks_ = has_heard ? 0 : looks_ + 1; }
  bool is_too_long() const noexcept { return looks_ >= looks_max_; }
  std::string text() const { return "silent for " + base::human(limit_); }

 private:
  base::Nanoseconds limit_;
  std::int64_t looks_max_;
  std::int64_t looks_ = 0;
};

}  // namespace distrun::nodes
