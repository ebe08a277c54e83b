#pragma once
// Reads a summary back, for `distrun show`: a file that may come from another version, another program or a fuzzer.
// Unknown fields are ignored and missing ones get their defaults.
#include <string_view>

#include <distrun/runner/record/record.hpp>

namespace distrun::report {

// Throws Error{InvalidArgument} that names the field and the error. The schema is checked first: if it is not a version
// of distrun.summary/1, the text says what was found and what is supported. Data that a summary does not contain (the
// rules that selected a test) stays as in a new record.
runner::RunRecord read_summary(std::string_view json);

}  // namespace distrun::report
