#pragma once
#include <string>

#include <distrun/runner/record/events.hpp>
#include <distrun/runner/record/record.hpp>
#include <distrun/runner/report/text/paint.hpp>

namespace distrun::report {

// Returns "fail           12.4 ms  Ring.gather - rank 2: CheckFailed: ...", without newline, cut to `width` columns (0:
// not cut).
std::string test_line(const runner::TestRecord& test, const Paint& paint, int width);

// Returns the line before the output of an attempt that is shown while it runs: "running    Ring.gather, attempt 2".
std::string start_line(const runner::AttemptStart& start, const Paint& paint);

// Returns the first line of a run: its tests and settings.
std::string run_line(const runner::RunRecord& run, int tests, const Paint& paint);

// Returns "shard 2/3 of 10 tests". `selected`: the number of tests that are split into shards.
std::string shard_text(const runner::Shard& shard, int selected);

// Returns "problem: ring.so: list: TEXT", one line or more, ending in a newline.
std::string problem_lines(const runner::Problem& problem, const Paint& paint);
// Returns "notice: ...", with a line break.
std::string notice_line(const std::string& text, const Paint& paint);

}  // namespace distrun::report
