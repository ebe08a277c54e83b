#include <distrun/common/base/fd.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include <distrun/common/base/error.hpp>

namespace distrun::base {

void Fd::reset(int fd) noexcept {
  // EINTR is not retried: on Linux the descriptor is closed either way.
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

FdPair make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) throw_errno("cannot create a pipe", errno);
  return {Fd(fds[0]), Fd(fds[1])};
}

FdPair make_socket_pair(int type) {
  int fds[2];
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds) != 0) {
    throw_errno("cannot create a socket pair", errno);
  }
  return {Fd(fds[0]), Fd(fds[1])};
}

void set_nonblocking(int fd, bool on) {
  const int flags = ::fcntl(fd, F_GETFL);
  const int wanted = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
  if (flags < 0 || ::fcntl(fd, F_SETFL, wanted) != 0) throw_errno("cannot set O_NONBLOCK", errno);
}

void open_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // open() returns the lowest free number, so each call fills exactly one gap. Without /dev/null an O_PATH
    // descriptor, which can be neither read nor written, takes the number.
    if (::open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_WRONLY) < 0) (void)::open("/", O_PATH);
  }
}

}  // namespace distrun::base
