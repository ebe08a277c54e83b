#include "terminal_input.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "terminal.hpp"

namespace distrun::cli {

TerminalInput::TerminalInput(io::Loop& loop) : loop_(loop), again_(loop, [this] { listen(); }) {
  if (::isatty(STDIN_FILENO) != 1) return;
  base::FdPair pipe = base::make_pipe();
  reading_end_ = std::move(pipe.first);
  base::set_nonblocking(pipe.second.get());
  // It never becomes readable: the watch is used to detect when it is writable.
  writing_end_ = std::make_unique<io::FdWatch>(loop, std::move(pipe.second), [this] { writing_end_.reset(); });
  listen();
}

void TerminalInput::listen() {
  terminal_ = std::make_unique<io::FdWatch>(loop_, base::Fd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)),
                                            [this] { on_readable(); });
}

void TerminalInput::on_readable() {
  switch (typed_at(terminal_->fd())) {
    case Typed::Nothing: return;
    case Typed::HungUp: return end();
    case Typed::ForOthers: terminal_.reset(); return again_.set_after(kTerminalPause);
    case Typed::ForUs: break;
  }
  std::array<char, 4096> buffer;
  const ssize_t got = ::read(terminal_->fd(), buffer.data(), buffer.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) return end();  // Ctrl-D
  terminal_.reset();
  pending_.assign(buffer.data(), static_cast<std::size_t>(got));
  hand_on();
}

void TerminalInput::end() {
  terminal_.reset();
  writing_end_.reset();
}

void TerminalInput::hand_on() {
  if (!writing_end_) return;
  const ssize_t written = ::write(writing_end_->fd(), pending_.data(), pending_.size());
  if (written > 0) pending_.erase(0, static_cast<std::size_t>(written));
  if (pending_.empty()) return listen();
  writing_end_->when_writable([this] { hand_on(); });
}

}  // namespace distrun::cli
