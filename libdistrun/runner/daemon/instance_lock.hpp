#pragma once
// Ensures one daemon per socket by a lock on a file beside it. The kernel releases the lock however the daemon ends, so
// its holder knows that an existing socket is stale.
#include <string>

#include <distrun/common/base/fd.hpp>

namespace distrun::daemon {

class InstanceLock {
 public:
  // Throws Error{Failed} that names the daemon that holds the lock.
  explicit InstanceLock(const std::string& socket);
  // Removes the file, then releases the lock.
  ~InstanceLock();
  InstanceLock(const InstanceLock&) = delete;
  InstanceLock& operator=(const InstanceLock&) = delete;

 private:
  std::string path_;
  base::Fd file_;
};

}  // namespace distrun::daemon
