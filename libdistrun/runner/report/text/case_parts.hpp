#pragma once
// What reports with a case for each test (JUnit, CTRF, GitHub) say alike: its names, where it went wrong, and what its
// ranks wrote.
#include <cstddef>
#include <cstdint>
#include <string>

#include <distrun/runner/record/record.hpp>

namespace distrun::report {

// "ring" of a test from build/plugins/ring.so.
std::string plugin_name(const runner::TestRecord& test);
// The test's id without its suite, with its parameters: "gather/root=3".
std::string case_name(const runner::TestRecord& test);

struct SourcePlace {
  std::string file;        // as the compiler was told it; empty: nobody knows
  std::uint32_t line = 0;  // 0: nobody knows
};

// Where to look first: the check or the crash of the first culprit that tells where it was; else where the test is
// written. `attempt` may be null.
SourcePlace failure_place(const runner::TestRecord& test, const runner::AttemptRecord* attempt);

// What the ranks of an attempt wrote to `stream` (&RankRecord::out or err), every line after its rank: "[rank 2] ...".
// Culprits come first: what is left out beyond `bytes_max` is their neighbours' output.
std::string rank_output(const runner::AttemptRecord& attempt, const runner::Captured runner::RankRecord::*stream,
                        std::size_t bytes_max);

}  // namespace distrun::report
