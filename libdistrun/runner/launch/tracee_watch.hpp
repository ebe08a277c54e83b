#pragma once
// Lets go of what has made the coordinator its tracer, as soon as it stands still for it (runner/proc/tracees.hpp). It
// is the one that hears SIGCHLD, by a descriptor and without a handler; ends of processes are told by their pidfds.
// Lives on: the coordinator's loop.
#include <signal.h>

#include <memory>

#include <distrun/common/io/fd_watch.hpp>

namespace distrun::launch {

class TraceeWatch {
 public:
  // Blocks SIGCHLD for the calling thread as long as it lives. Throws Error{Failed} without a descriptor.
  explicit TraceeWatch(io::Loop& loop);
  ~TraceeWatch();
  TraceeWatch(const TraceeWatch&) = delete;
  TraceeWatch& operator=(const TraceeWatch&) = delete;

 private:
  sigset_t before_;
  std::unique_ptr<io::FdWatch> signals_;
};

}  // namespace distrun::launch
