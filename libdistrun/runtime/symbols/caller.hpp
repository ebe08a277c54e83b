#pragma once
// Which place in the user's code a call site is. It is the innermost call that is not the runtime's: neither in its
// library, nor in a function of its headers, nor in the libraries that it stands on (C's and C++'s), which call back.
// Such functions are known by the path of their source, also where they were inlined. So a program that the runtime is
// linked into has user's code, too: what does not come from libdistrun.
//
// The line is told where the user's code has debug information (-g, -g1) and the module of libdw is there
// (dw_line.hpp). Else it is the function and the file that holds it, and for a function without a name in .symtab the
// address in that file, which addr2line takes.
//
// It takes some milliseconds once for each stack, and is remembered.
#include <string>
#include <vector>

#include <distrun/common/base/location.hpp>
#include <distrun/runtime/core/call_site.hpp>

namespace distrun::symbols {

// " at ring.cpp:34", " in scale(float) of libring.so", " at 0x1234 of libring.so"; before it the step, if there is one:
// " in MulBackward0 at ring.cpp:40". Where no user's code has called it is that of who has begun; empty: nobody knows.
// Any thread.
std::string place_text(const core::CallSite& site);
// All calls of the user's that led there, innermost first: "scale(float) at ring.cpp:34", or as above without lines.
// Looked up anew each time. Any thread.
std::vector<std::string> users_calls(const core::CallStack& stack);
// Line 0: it is not known. The file's name lives until the process ends. Any thread.
base::Location location_of(const core::CallSite& site);

}  // namespace distrun::symbols
