#include <distrun/runner/report/files/outlet.hpp>

#include <algorithm>
#include <cerrno>
#include <climits>

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace distrun::report {
namespace {

mode_t mode_of(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 ? status.st_mode : 0;
}

}  // namespace

Outlet::Outlet(int fd) : fd_(fd), regular_(S_ISREG(mode_of(fd))), is_device_(S_ISCHR(mode_of(fd))) {}

void Outlet::write(std::string_view text) {
  if (error_ == 0 && pending_.size() + text.size() > kPendingMax) fail(ENOBUFS);
  if (error_ != 0) {
    lost_ += text.size();
    return;
  }
  pending_ += text;
  flush();
}

void Outlet::flush() {
  std::size_t done = 0;
  // A pipe that poll() reports as writable takes PIPE_BUF bytes without blocking, even in blocking mode.
  const std::size_t most = regular_ ? pending_.size() : PIPE_BUF;
  while (done < pending_.size() && (regular_ || wait_writable(0))) {
    const std::size_t size = std::min(most, pending_.size() - done);
    const ssize_t written = ::write(fd_, pending_.data() + done, size);
    if (written >= 0) {
      done += static_cast<std::size_t>(written);
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      const int error = errno;
      pending_.erase(0, done);
      return fail(error);
    }
  }
  pending_.erase(0, done);
}

void Outlet::drain(base::Milliseconds patience) {
  flush();
  while (!pending_.empty()) {
    if (!wait_writable(static_cast<int>(patience.count()))) return fail(ETIMEDOUT);
    flush();
  }
}

void Outlet::fail(int number) {
  error_ = number;
  lost_ += pending_.size();
  pending_ = {};
}

// An error on the descriptor counts as writable: the write then returns it.
bool Outlet::wait_writable(int timeout_ms) const {
  pollfd slot{fd_, POLLOUT, 0};
  int ready = 0;
  do {
    ready = poll(&slot, 1, timeout_ms);
  } while (ready < 0 && errno == EINTR);
  return ready != 0;
}

}  // namespace distrun::report
