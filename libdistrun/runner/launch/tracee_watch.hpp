#pragma once
// Detaches processes that have made the coordinator their tracer, as soon as they stop (runner/proc/tracees.hpp). It
// alone receives SIGCHLD, by a descriptor and without a handler; ends of processes are reported by their pidfds. Lives
// on: the coordinator's loop.
#include <signal.h>

#include <memory>

#include <distrun/common/io/fd_watch.hpp>

namespace distrun::launch {

class TraceeWatch {
 public:
  // Blocks SIGCHLD for the calling thread during its lifetime. Throws Error{Failed} if no descriptor is available.
  explicit TraceeWatch(io::Loop& loop);
  ~TraceeWatch();
  TraceeWatch(const TraceeWatch&) = delete;
  TraceeWatch& operator=(const TraceeWatch&) = delete;

 private:
  sigset_t before_;
  std::unique_ptr<io::FdWatch> signals_;
};

}  // namespace distrun::launch
