#pragma once
// Converts exceptions for reports.
#include <distrun/common/base/throw_stack.hpp>
#include <distrun/plugin/sdk/tally.hpp>

namespace distrun::detail {

// Converts the exception being handled; call it in a catch block only. An Error has its type name, text and location,
// any other exception its C++ type; nested causes follow on further lines.
Failure current_failure();

// Passed to the constructor of a ThrowStack: stores the DISTRUN_INFO texts of the scopes that the exception will leave.
void keep_infos() noexcept;
// The same with the place of the throw and the texts stored by keep_infos(). A peer's failure has no such place: it has
// the location of the wait.
Failure current_failure(const base::ThrowStack& stack);

}  // namespace distrun::detail
