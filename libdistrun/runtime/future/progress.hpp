#pragma once
// Lets a waiting thread do the work that it waits for: a thread that waits for a reply reads the rank's messages
// itself, so no other thread has to wake up and hand the reply over.
#include <distrun/common/base/clock.hpp>

namespace distrun::future {

// Moves work that completes futures. Thread-safe.
class Progress {
 public:
  // The condition that a thread waits for; polled often.
  class Awaited {
   public:
    virtual bool is_there() const noexcept = 0;

   protected:
    ~Awaited() = default;
  };

  virtual ~Progress() = default;
  // Works until `awaited` is there, until `deadline`, or until sleeping would be better. The waiting thread then
  // sleeps, and other threads or the failure of a peer, which is not checked here, wake it. A handler that helps counts
  // as running, and other handlers may have to wait for it, so it must neither help for long nor sleep here unseen.
  virtual void help(const Awaited& awaited, base::TimePoint deadline) noexcept = 0;
};

}  // namespace distrun::future
