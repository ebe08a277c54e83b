#pragma once
#include <cstddef>
#include <string>

#include <distrun/runner/record/record.hpp>
#include <distrun/runner/report/text/paint.hpp>

namespace distrun::report {

// The `count` tests that took longest, longest first, each with where its time went: before the bodies of its ranks
// (spawn, load, set-up), in them, and after them, summed over its attempts. Tests of which nothing ran are left out.
// Ends in a newline; empty if `count` is 0 or nothing ran.
std::string slow_tests_text(const runner::RunRecord& run, std::size_t count, const Paint& paint);

}  // namespace distrun::report
