#pragma once
// What standard input and output are.
#include <distrun/common/base/clock.hpp>

#include "options/options.hpp"

namespace distrun::cli {

// Whether `fd` (standard output) is a terminal that understands colour, or colour was asked for. NO_COLOR and
// TERM=dumb say no.
bool wants_color(ColorChoice choice, int fd = 1);
bool output_is_terminal();
// Whether who reads it looks at us: false in the background, and while a debugger has the terminal. A terminal of
// another session (a client's, of the daemon) does not say whose it is, and counts as ours.
bool terminal_is_ours();
bool errors_are_terminal();
// In columns; 80 if nobody knows.
int terminal_width();

// Whose turn it is to read a terminal that seems to be readable. Reading it from the background would stop us; one that
// has hung up stays readable for ever, and says nothing.
enum class Typed { Nothing, ForUs, ForOthers, HungUp };
Typed typed_at(int terminal);
// From one look at a terminal whose input is for others to the next: nothing tells when it is ours again.
inline constexpr base::Milliseconds kTerminalPause{200};

}  // namespace distrun::cli
