#pragma once
// One daemon for each socket: a lock on a file beside it, which the kernel takes back when the daemon ends, however it
// ends. So whoever has the lock knows that a socket that is still there is nobody's.
#include <string>

#include <distrun/common/base/fd.hpp>

namespace distrun::daemon {

class InstanceLock {
 public:
  // Throws Error{Failed} that names the daemon that has it.
  explicit InstanceLock(const std::string& socket);
  // Removes the file, then gives the lock back.
  ~InstanceLock();
  InstanceLock(const InstanceLock&) = delete;
  InstanceLock& operator=(const InstanceLock&) = delete;

 private:
  std::string path_;
  base::Fd file_;
};

}  // namespace distrun::daemon
