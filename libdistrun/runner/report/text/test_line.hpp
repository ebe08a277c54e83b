#pragma once
#include <string>

#include <distrun/runner/record/record.hpp>
#include <distrun/runner/report/text/paint.hpp>

namespace distrun::report {

// "fail           12.4 ms  Ring.gather - rank 2: CheckFailed: ...", one line without its newline.
// Cut to `width` columns; 0: not cut.
std::string test_line(const runner::TestRecord& test, const Paint& paint, int width);

// The first line of a run: what is run, and how.
std::string run_line(const runner::RunRecord& run, int tests, const Paint& paint);

// "shard 2/3 of 10 tests"
std::string shard_text(const runner::RunRecord& run);

// "problem: ring.so: list: TEXT", one line or more, ending in a newline.
std::string problem_lines(const runner::Problem& problem, const Paint& paint);

}  // namespace distrun::report
