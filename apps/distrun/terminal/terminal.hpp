#pragma once
// Properties of standard input and output.
#include <distrun/common/base/clock.hpp>

#include "options/options.hpp"

namespace distrun::cli {

// Returns whether `fd` is a terminal that supports colour, or colour was requested. NO_COLOR and TERM=dumb disable it.
bool wants_color(ColorChoice choice, int fd = 1);
bool output_is_terminal();
// Returns whether distrun is in the foreground: false in the background, and while a debugger has the terminal. A
// terminal of another session (of a client of the daemon) does not reveal its foreground group, and counts as ours.
bool terminal_is_ours();
bool errors_are_terminal();
// In columns; 80 if unknown.
int terminal_width();

// Tells which process should read a terminal that seems readable. Reading it from the background would stop distrun;
// one that has hung up stays readable forever, without data.
enum class Typed { Nothing, ForUs, ForOthers, HungUp };
Typed typed_at(int terminal);
// The interval of checking a terminal that another process reads: there is no event when that ends.
inline constexpr base::Milliseconds kTerminalPause{200};

}  // namespace distrun::cli
