#pragma once
// Makes ranks write standard output line by line. With a pipe, output would stay in a buffer of the process, and be
// lost if the rank crashes, is killed, calls _exit() or hangs: just when its last lines explain what happened.
//
// C's stdio is set to line buffering. C++'s streams write through it, unless the plugin calls
// std::ios_base::sync_with_stdio(false): then they would use separate buffers, which cannot be line-buffered. So
// distrun-rank defines that function itself, and the streams keep writing through stdio. A plugin that calls
// std::setvbuf() or gives std::cout another buffer gets what it asks for.

namespace distrun::rank {

// Call it first, before anything is printed.
void print_whole_lines();

}  // namespace distrun::rank
