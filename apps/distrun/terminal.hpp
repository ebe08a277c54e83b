#pragma once
// What standard output is.
#include "options.hpp"

namespace distrun::cli {

// Descriptors 0 to 2 that are closed become /dev/null, so that no file of ours gets their number. First of all.
void open_standard_descriptors();
// Whether `fd` (standard output) is a terminal that understands colour, or colour was asked for. NO_COLOR and
// TERM=dumb say no.
bool wants_color(ColorChoice choice, int fd = 1);
bool output_is_terminal();
// In columns; 80 if nobody knows.
int terminal_width();

}  // namespace distrun::cli
