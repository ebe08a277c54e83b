#pragma once
// What an exception says in a report.
#include <distrun/common/base/throw_stack.hpp>
#include <distrun/plugin/sdk/tally.hpp>

namespace distrun::detail {

// Of the exception being handled; call it in a catch block only. An Error has the type that
// travels, its text and its place, any other exception its C++ type; causes nested in it come on
// further lines.
Failure current_failure();

// For the constructor of a ThrowStack: keeps what DISTRUN_INFO says of the scopes that the exception is about to leave.
void keep_infos() noexcept;
// The same with the place of its throw and what keep_infos() has kept. A peer's failure has no place of its throw: it
// knows where it was waited for.
Failure current_failure(const base::ThrowStack& stack);

}  // namespace distrun::detail
