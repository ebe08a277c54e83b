#pragma once
// The locks of tests (`.locks = {"port 8000"}`), within this run and against other runs of the same user on this
// machine. Each held lock is an abstract Unix socket, bound to a name made of the user and the lock: the kernel lets
// one process have a name, and releases it however that process ends. Runs in other network namespaces do not see it.
// Not thread-safe.
#include <map>
#include <string>
#include <vector>

#include <distrun/common/base/fd.hpp>

namespace distrun::runner {

class NamedLocks {
 public:
  struct Answer {
    bool taken = false;
    std::string held_elsewhere;  // a lock that another process has; empty if not taken: this object has one
  };
  // Takes all of them or none. Throws Error{Failed} if no socket can be created.
  Answer try_take(const std::vector<std::string>& names);
  void release(const std::vector<std::string>& names);

 private:
  std::map<std::string, base::Fd> held_;
};

}  // namespace distrun::runner
