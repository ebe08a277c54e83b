#include <distrun/runner/daemon/instance_lock.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include <distrun/common/base/error.hpp>

namespace distrun::daemon {
namespace {

constexpr int kTries = 100;  // a try fails only if the file is removed in between

// Locks the whole file. Unlike flock()'s, the lock is not inherited, so a child cannot keep a dead daemon's lock.
struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

[[noreturn]] void throw_taken(const std::string& path, int file) {
  struct flock lock = whole_file();
  ::fcntl(file, F_GETLK, &lock);
  const std::string who = lock.l_type == F_WRLCK ? " (pid " + std::to_string(lock.l_pid) + ")" : "";
  throw Error(ErrorKind::Failed, "a distrund" + who + " already serves this socket (lock file " + path +
                                     "); see `distrund --status`, or use --socket with another path");
}

// Returns whether the path still leads to the file, which the previous holder of the lock removes.
bool is_there(const std::string& path, int file) {
  struct stat named {};
  struct stat opened {};
  return ::lstat(path.c_str(), &named) == 0 && ::fstat(file, &opened) == 0 && named.st_ino == opened.st_ino &&
         named.st_dev == opened.st_dev;
}

}  // namespace

InstanceLock::InstanceLock(const std::string& socket) : path_(socket + ".lock") {
  for (int i = 0; i < kTries; ++i) {
    file_.reset(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file_) base::throw_errno("cannot open " + path_, errno);
    struct flock lock = whole_file();
    if (::fcntl(file_.get(), F_SETLK, &lock) != 0) throw_taken(path_, file_.get());
    if (is_there(path_, file_.get())) return;
  }
  throw Error(ErrorKind::Failed, path_ + " is removed repeatedly by another program");
}

InstanceLock::~InstanceLock() { ::unlink(path_.c_str()); }

}  // namespace distrun::daemon
