#pragma once
// Where an error was thrown, as it travels: the functions from the throw outwards to the one that was called, each with
// its source line as far as the program's files tell:
//
//   thrown in read_header(int) at /src/header.cpp:12
//   called by load() at /src/load.cpp:30
//
// What an address is called is looked up once, in some milliseconds, and remembered: a function that throws often
// costs its callers little. Without the module of libdw, distrun_dw.so, functions that others can link to have names,
// and nothing has a line.
#include <cstdint>
#include <span>
#include <string>

namespace distrun::symbols {

// Of what a ThrowStack tells: innermost first, with a 0 where some were left out. Without the machinery that throws,
// and that calls functions; bounded in lines and bytes. Empty: nothing is known. Any thread.
std::string stack_text(std::span<const std::uint64_t> pcs);

}  // namespace distrun::symbols
