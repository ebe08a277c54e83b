#include "terminal_input.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace distrun::cli {
namespace {

// Reading the terminal from the background would stop us.
bool may_read(int fd) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, 0) == 1 && ::tcgetpgrp(fd) == ::getpgrp();
}

}  // namespace

TerminalInput::TerminalInput(io::Loop& loop) : loop_(loop) {
  if (::isatty(STDIN_FILENO) != 1) return;
  base::FdPair pipe = base::make_pipe();
  reading_end_ = std::move(pipe.first);
  base::set_nonblocking(pipe.second.get());
  // It never becomes readable: the watch is there to tell when it is writable.
  writing_end_ = std::make_unique<io::FdWatch>(loop, std::move(pipe.second), [this] { writing_end_.reset(); });
  listen();
}

void TerminalInput::listen() {
  terminal_ = std::make_unique<io::FdWatch>(loop_, base::Fd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)),
                                            [this] { on_readable(); });
}

void TerminalInput::on_readable() {
  if (!may_read(terminal_->fd())) return;
  std::array<char, 4096> buffer;
  const ssize_t got = ::read(terminal_->fd(), buffer.data(), buffer.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  terminal_.reset();
  if (got <= 0) return writing_end_.reset();  // Ctrl-D
  pending_.assign(buffer.data(), static_cast<std::size_t>(got));
  hand_on();
}

void TerminalInput::hand_on() {
  if (!writing_end_) return;
  const ssize_t written = ::write(writing_end_->fd(), pending_.data(), pending_.size());
  if (written > 0) pending_.erase(0, static_cast<std::size_t>(written));
  if (pending_.empty()) return listen();
  writing_end_->when_writable([this] { hand_on(); });
}

}  // namespace distrun::cli
