#include "keys.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "terminal.hpp"

namespace distrun::cli {
namespace {

// Changing the terminal's settings from the background would stop distrun.
bool is_ours() { return ::isatty(STDIN_FILENO) == 1 && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp(); }

}  // namespace

Keys::Keys(io::Loop& loop, std::function<void(char)> on_key)
    : loop_(loop), on_key_(std::move(on_key)), again_(loop, [this] { listen(); }) {
  take();
  if (taken_) listen();
}

void Keys::listen() {
  input_ = std::make_unique<io::FdWatch>(loop_, base::Fd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)),
                                         [this] { on_readable(); });
}

Keys::~Keys() { give_back(); }

void Keys::take() {
  if (taken_ || !is_ours() || ::tcgetattr(STDIN_FILENO, &before_) != 0) return;
  termios one_by_one = before_;
  one_by_one.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  one_by_one.c_cc[VMIN] = 1;
  one_by_one.c_cc[VTIME] = 0;
  taken_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &one_by_one) == 0;
}

void Keys::give_back() {
  if (taken_ && is_ours()) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  taken_ = false;
}

void Keys::on_readable() {
  switch (typed_at(input_->fd())) {
    case Typed::Nothing: return;
    case Typed::HungUp: return input_.reset();
    case Typed::ForOthers: input_.reset(); return again_.set_after(kTerminalPause);
    case Typed::ForUs: break;
  }
  char key = 0;
  const ssize_t got = ::read(input_->fd(), &key, 1);
  if (got == 1) return on_key_(key);
  if (got == 0 || (errno != EINTR && errno != EAGAIN)) input_.reset();  // the terminal is gone
}

}  // namespace distrun::cli
