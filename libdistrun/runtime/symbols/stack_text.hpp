#pragma once
// Text of where an error was thrown, for sending: the functions from the throw outwards to the called one, each with
// its source line if the program's files have it:
//
//   thrown in read_header(int) at /src/header.cpp:12
//   called by load() at /src/load.cpp:30
//
// Names of addresses are looked up once, in some milliseconds, and cached: a function that throws often costs its
// callers little. Without the libdw module, distrun_dw.so, only exported functions have names, and there are no lines.
#include <cstdint>
#include <span>
#include <string>

namespace distrun::symbols {

// Takes the addresses of a ThrowStack: innermost first, with a 0 where some were left out. Omits the frames of throwing
// and of calling functions; bounded in lines and bytes. Empty if nothing is known. Any thread.
std::string stack_text(std::span<const std::uint64_t> pcs);

}  // namespace distrun::symbols
