#pragma once
// Where idle workers of a handler pool wait instead of in the pool. There they do other work, such as reading the
// rank's messages; a worker that finds work for a handler returns and does it, so no other thread has to wake up.
#include <distrun/common/base/clock.hpp>

namespace distrun::future {

class IdlePlace {
 public:
  virtual ~IdlePlace() = default;
  // Called on several workers at a time. Returns when there may be tasks in the queue (some were posted, found or left,
  // or wake() was called), and after `until`, once no more messages are there to be read. May return spuriously. Never
  // runs users' code.
  virtual void idle(base::TimePoint until) noexcept = 0;
  // Makes one worker in idle() return, or the next one that enters. Thread-safe; may be called when the pool has just
  // left.
  virtual void wake() noexcept = 0;
};

}  // namespace distrun::future
