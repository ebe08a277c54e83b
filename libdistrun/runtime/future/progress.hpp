#pragma once
// Who waits may do the work that it waits for: a thread that waits for a reply reads the messages of its rank itself,
// so that no other thread has to wake up and hand the reply over.
#include <distrun/common/base/clock.hpp>

namespace distrun::future {

// Of whatever completes futures. Any thread.
class Progress {
 public:
  // Whether what somebody waits for is there; called often.
  class Awaited {
   public:
    virtual bool is_there() const noexcept = 0;

   protected:
    ~Awaited() = default;
  };

  virtual ~Progress() = default;
  // Does what there is to do until it is there, or `deadline`, or it would be better to sleep. Then whoever waits
  // sleeps, and is woken as by any other thread; also by the failure of a peer, which nobody asks for here. A handler
  // that helps runs, and others may have to wait for it, so it neither helps for long nor sleeps here unseen.
  virtual void help(const Awaited& awaited, base::TimePoint deadline) noexcept = 0;
};

}  // namespace distrun::future
