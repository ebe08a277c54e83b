#pragma once
// Standard output of ranks, line by line. Written to a pipe, it would be kept in a buffer of the process, and be lost
// with it when the rank crashes, is killed, calls _exit() or hangs: just when its last lines explain what happened.
//
// Of the two libraries that print, C's is told to write each line at once. C++'s streams write through C's, unless the
// plugin calls std::ios_base::sync_with_stdio(false): then they have a buffer of their own, which no function makes
// write lines. So distrun-rank defines that function itself, and the streams go on writing through C's. A plugin that
// calls std::setvbuf() or gives std::cout another buffer gets what it asks for.

namespace distrun::rank {

// Call first, before anything is printed.
void print_whole_lines();

}  // namespace distrun::rank
