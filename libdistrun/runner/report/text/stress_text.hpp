#pragma once
#include <string>

#include <distrun/runner/record/record.hpp>
#include <distrun/runner/report/text/paint.hpp>

namespace distrun::report {

// Returns for each test of a stress run how often it failed, with the interval of the probability, its times, and its
// kinds of failures. Empty for other runs.
std::string stress_text(const runner::RunRecord& run, const Paint& paint);

}  // namespace distrun::report
