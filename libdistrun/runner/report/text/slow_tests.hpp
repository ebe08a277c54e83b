#pragma once
#include <cstddef>
#include <string>

#include <distrun/runner/record/record.hpp>
#include <distrun/runner/report/text/paint.hpp>

namespace distrun::report {

// Returns the `count` slowest tests, slowest first, each with its time before the bodies of its ranks (spawn, load,
// set-up), in them, and after them, summed over its attempts. Omits tests without an attempt. Ends in a newline; empty
// if `count` is 0 or nothing ran.
std::string slow_tests_text(const runner::RunRecord& run, std::size_t count, const Paint& paint);

}  // namespace distrun::report
