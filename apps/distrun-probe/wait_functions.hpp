#pragma once
// Finds what a thread waits for by the names of its functions: tables with a line for each function. Pure functions;
// thread-safe.
#include <string>
#include <vector>

#include <distrun/common/wire/stacks.hpp>

namespace distrun::probe {

struct WaitFunction {
  wire::WaitObject object = wire::WaitObject::None;
  std::string name;  // "mutex", "std::latch", "the lock of exit()"
};

// Returns the object behind a futex that a thread waits for. `functions` are its innermost ones of the C and C++
// libraries, up to the first function of another library or of the user, as qualified_name() returns them. None if the
// table has none of them.
WaitFunction wait_in_runtime(const std::vector<std::string>& functions);

// Returns the device synchronisation or communication library that a thread is in. `functions` are all of its stack, as
// qualified_name() returns them; the innermost entry counts. None if there is no such function.
WaitFunction wait_in_library(const std::vector<std::string>& functions);

// Returns whether the function is part of the C++ library's headers, and so may be compiled into a user's code.
bool is_standard_function(const std::string& qualified);

}  // namespace distrun::probe
