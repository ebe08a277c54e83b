#pragma once
#include <string>

#include <distrun/runner/record/stress.hpp>
#include <distrun/runner/report/text/paint.hpp>

namespace distrun::report {

// Returns for each test of a stress run how often it failed, with the interval of the probability, its times, and its
// kinds of failures. Empty for other runs.
std::string stress_text(const runner::RunRecord& run, const Paint& paint);

// Returns "stress 12 s of 10 min: 1234 runs, 3 failed (0.24 %), 103/s, mean 9.6 ms, longest 84.0 ms"; when the time is
// over, "stress 10 min are over, 2 attempts still run: 1234 runs, ...".
std::string stress_line(const runner::StressStatus& status, base::Nanoseconds length);

}  // namespace distrun::report
