#pragma once
#include <string>

#include <distrun/runner/record/record.hpp>

namespace distrun::report {

// "ring" of a test from build/plugins/ring.so.
std::string plugin_name(const runner::TestRecord& test);
// The test's id without its suite, with its parameters: "gather/root=3".
std::string case_name(const runner::TestRecord& test);

}  // namespace distrun::report
