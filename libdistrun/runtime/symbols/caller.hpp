#pragma once
// Finds the place in the user's code that a call site belongs to: the innermost call outside of the runtime, that is,
// outside of its library, the functions of its headers, and the C and C++ libraries, which call back. Header functions
// are recognized by the path of their source, also where they were inlined. So a program that links the runtime
// statically has user code too: everything that does not come from libdistrun.
//
// The line is known if the user's code has debug information (-g, -g1) and the libdw module is available (dw_line.hpp).
// Otherwise the text has the function and its file, or for a function without a name in .symtab the address in that
// file, as addr2line accepts it.
//
// Takes some milliseconds once per stack; the result is cached.
#include <string>
#include <vector>

#include <distrun/common/base/location.hpp>
#include <distrun/runtime/core/call_site.hpp>

namespace distrun::symbols {

// Returns " at ring.cpp:34", " in scale(float) of libring.so" or " at 0x1234 of libring.so", preceded by the step if
// there is one: " in MulBackward0 at ring.cpp:40". If the stack has no user code, uses the stack that started the work;
// empty if unknown. Any thread.
std::string place_text(const core::CallSite& site);
// Returns all calls in the user's code, innermost first: "scale(float) at ring.cpp:34", or as above without lines. Not
// cached. Any thread.
std::vector<std::string> users_calls(const core::CallStack& stack);
// Line 0 means unknown. The file's name lives until the process ends. Any thread.
base::Location location_of(const core::CallSite& site);

}  // namespace distrun::symbols
