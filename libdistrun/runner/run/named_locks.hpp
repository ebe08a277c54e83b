#pragma once
// The locks of tests (`.locks = {"port 8000"}`), within this run and against other runs of the same user on this
// machine. Each held lock is an abstract Unix socket, bound to a name made of the user and the lock: the kernel lets
// one process have a name, and releases it however that process ends. A lock that several tests may have has a name for
// each of them; runs with different limits share the first ones. Runs in other network namespaces do not see it.
// Not thread-safe.
#include <map>
#include <string>
#include <vector>

#include <distrun/common/base/fd.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

class NamedLocks {
 public:
  struct Answer {
    bool taken = false;
    std::string held_elsewhere;  // a lock that another process has; empty if not taken: this object has all of one
  };
  // `limits`: of the locks that more than one test may have at the same time.
  explicit NamedLocks(const std::vector<LockLimit>& limits = {});
  // Takes all of them or none. Throws Error{Failed} if no socket can be created.
  Answer try_take(const std::vector<std::string>& names);
  void release(const std::vector<std::string>& names);

 private:
  int limit_of(const std::string& lock) const;
  using Sockets = std::map<std::string, base::Fd>;  // by name

  // Adds a socket of the lock to `taken`, unless all are taken. `elsewhere`: another process has one of them.
  bool take_one(const std::string& lock, Sockets& taken, bool& elsewhere) const;

  std::map<std::string, int> limits_;
  Sockets held_;
};

}  // namespace distrun::runner
