#include "terminal.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace distrun::cli {
namespace {

bool is_dumb() {
  const char* term = std::getenv("TERM");
  return term == nullptr || std::strcmp(term, "dumb") == 0;
}

}  // namespace

bool output_is_terminal() { return ::isatty(STDOUT_FILENO) == 1 && !is_dumb(); }

bool terminal_is_ours() {
  const pid_t reader = ::tcgetpgrp(STDOUT_FILENO);
  return reader < 0 || reader == ::getpgrp();
}

bool errors_are_terminal() { return ::isatty(STDERR_FILENO) == 1 && !is_dumb(); }

bool wants_color(ColorChoice choice, int fd) {
  if (choice != ColorChoice::Auto) return choice == ColorChoice::Always;
  const char* no_color = std::getenv("NO_COLOR");
  return ::isatty(fd) == 1 && !is_dumb() && (no_color == nullptr || *no_color == '\0');
}

int terminal_width() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

Typed typed_at(int terminal) {
  pollfd entry{terminal, POLLIN, 0};
  if (::poll(&entry, 1, 0) != 1) return Typed::Nothing;
  if ((entry.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) return Typed::HungUp;
  return ::tcgetpgrp(terminal) == ::getpgrp() ? Typed::ForUs : Typed::ForOthers;
}

}  // namespace distrun::cli
