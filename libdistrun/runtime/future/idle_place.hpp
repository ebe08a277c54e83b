#pragma once
// Where idle workers of a handler pool wait, if not with the pool: they do there what there is to do, as reading the
// rank's messages, and whoever finds work for a handler there goes back and does it, without another thread that would
// have to wake up.

namespace distrun::future {

class IdlePlace {
 public:
  virtual ~IdlePlace() = default;
  // On a worker, on several at a time: returns when there may be tasks in the queue: some were posted, found or left,
  // or wake() was called. May return for no reason. Never runs users' code.
  virtual void idle() noexcept = 0;
  // One worker that is in idle() returns, or the next one that enters. Any thread; also when the pool has just left.
  virtual void wake() noexcept = 0;
};

}  // namespace distrun::future
