#pragma once
// What standard output is.
#include "options.hpp"

namespace distrun::cli {

// Whether `fd` (standard output) is a terminal that understands colour, or colour was asked for. NO_COLOR and
// TERM=dumb say no.
bool wants_color(ColorChoice choice, int fd = 1);
bool output_is_terminal();
bool errors_are_terminal();
// In columns; 80 if nobody knows.
int terminal_width();

}  // namespace distrun::cli
