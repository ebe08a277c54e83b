#include "terminal.hpp"

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

}  // namespace distrun::cli
