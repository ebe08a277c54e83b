#include <distrun/sdk/file_lock.hpp>

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include <distrun/base/error.hpp>

namespace distrun {

FileLock::FileLock(const std::string& path, base::Location where)
    : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
  if (!file_) base::throw_errno("cannot open the lock " + path, errno, where);
  while (::flock(file_.get(), LOCK_EX) != 0) {
    if (errno != EINTR) base::throw_errno("cannot lock " + path, errno, where);
  }
}

}  // namespace distrun
