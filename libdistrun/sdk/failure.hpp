#pragma once
// What an exception says in a report.
#include <distrun/sdk/tally.hpp>

namespace distrun::detail {

// Of the exception being handled; call it in a catch block only. An Error has the type that
// travels, its text and its place, any other exception its C++ type; causes nested in it come on
// further lines.
Failure current_failure();

}  // namespace distrun::detail
