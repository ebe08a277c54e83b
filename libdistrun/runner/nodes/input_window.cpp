#include <distrun/runner/nodes/input_window.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <distrun/common/base/error.hpp>

namespace distrun::nodes {
namespace {

// Other processes may use the same open pipe, so it is not made nonblocking: it is opened once more. Where that is
// denied, as for a socket, a read could block only if another process took the bytes that have been seen.
base::Fd opened_again(int fd, bool is_pipe) {
  if (is_pipe) {
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    base::Fd again(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (again) return again;
  }
  base::Fd same(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!same) base::throw_errno("cannot pass standard input on", errno);
  return same;
}

}  // namespace

InputSource::InputSource(io::Loop& loop, int fd, std::function<void(std::string bytes)> send)
    : loop_(loop), send_(std::move(send)) {
  struct stat status {};
  const bool is_known = ::fstat(fd, &status) == 0;
  never_blocks_ = is_known && (S_ISREG(status.st_mode) || S_ISCHR(status.st_mode));  // a terminal is read elsewhere
  fd_ = opened_again(fd, is_known && S_ISFIFO(status.st_mode));
  read_on();
}

void InputSource::confirm(std::uint64_t bytes) {
  if (bytes > unconfirmed_) throw Error(ErrorKind::InvalidArgument, "more input was confirmed than was sent");
  unconfirmed_ -= bytes;
  read_on();
}

void InputSource::read_on() {
  while (never_blocks_ && is_open()) read_some();
  if (never_blocks_ || !is_open() || watch_) return;
  base::Fd watched(::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 3));
  if (!watched) base::throw_errno("cannot pass standard input on", errno);
  watch_ = std::make_unique<io::FdWatch>(loop_, std::move(watched), [this] {
    read_some();
    if (!is_open()) watch_.reset();
  });
}

// An input that cannot be read is at its end.
void InputSource::read_some() {
  std::array<char, 16 << 10> buffer;
  const std::size_t most = std::min<std::size_t>(buffer.size(), kInputWindow - unconfirmed_);
  const ssize_t got = ::read(fd_.get(), buffer.data(), most);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  has_ended_ = got <= 0;
  const std::size_t size = has_ended_ ? 0 : static_cast<std::size_t>(got);
  unconfirmed_ += size;
  send_(std::string(buffer.data(), size));
}

// The watch never reads: a pipe's writing end only becomes readable when its other end is closed.
InputPipe::InputPipe(io::Loop& loop, std::function<void(std::uint64_t bytes)> confirm) : confirm_(std::move(confirm)) {
  base::FdPair pipe = base::make_pipe();
  base::set_nonblocking(pipe.second.get());
  rank_end_ = std::move(pipe.first);
  writing_end_ = std::make_unique<io::FdWatch>(loop, std::move(pipe.second), [this] { writing_end_.reset(); });
}

void InputPipe::add(std::string_view bytes) {
  if (has_ended_) throw Error(ErrorKind::InvalidArgument, "input after its end");
  if (bytes.size() > kInputWindow - pending_.size()) {
    throw Error(ErrorKind::InvalidArgument, "more input than the window of a rank");
  }
  has_ended_ = bytes.empty();
  if (!writing_end_) return;
  pending_ += bytes;
  if (!waits_) write_some();
}

void InputPipe::write_some() {
  waits_ = false;
  std::uint64_t taken = 0;
  while (!pending_.empty()) {
    const ssize_t count = ::write(writing_end_->fd(), pending_.data(), pending_.size());
    if (count > 0) {
      taken += static_cast<std::uint64_t>(count);
      pending_.erase(0, static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      waits_ = true;
      writing_end_->when_writable([this] { write_some(); });
      break;
    } else if (errno != EINTR) {
      pending_.clear();
      return writing_end_.reset();
    }
  }
  if (has_ended_ && pending_.empty()) writing_end_.reset();
  if (taken > 0) confirm_(taken);
}

}  // namespace distrun::nodes
