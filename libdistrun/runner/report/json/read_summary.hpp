#pragma once
// Reads a summary back, for `distrun show`: a file that may come from another version, another
// program or a fuzzer. Unknown fields are ignored and missing ones have their defaults.
#include <string_view>

#include <distrun/runner/record/record.hpp>

namespace distrun::report {

// Throws Error{InvalidArgument} that names the field and what is wrong with it; first of all if the
// schema is not a version of distrun.summary/1, then what was found and what is read.
// What a summary does not hold (the rules by which a test was selected) is as in a fresh record.
runner::RunRecord read_summary(std::string_view json);

}  // namespace distrun::report
