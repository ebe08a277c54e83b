#pragma once
// Parts shared by reports with a case for each test (JUnit, CTRF, GitHub): names, failure location, output.
#include <cstddef>
#include <cstdint>
#include <string>

#include <distrun/runner/record/record.hpp>

namespace distrun::report {

// Returns "ring" for a test of build/plugins/ring.so.
std::string plugin_name(const runner::TestRecord& test);
// Returns the test's id without its suite, with its parameters: "gather/root=3".
std::string case_name(const runner::TestRecord& test);

struct SourcePlace {
  std::string file;        // as passed to the compiler; empty: unknown
  std::uint32_t line = 0;  // 0: unknown
};

// Returns the place to look at if the attempt hung, else the check or crash of the first culprit with a location, else
// the test's place. `attempt` may be null.
SourcePlace failure_place(const runner::TestRecord& test, const runner::AttemptRecord* attempt);

// Returns the output of an attempt's ranks to `stream` (&RankRecord::out or err), each line with a prefix: "[rank 2]
// ...". Culprits come first: output beyond `bytes_max` is cut from their neighbours.
std::string rank_output(const runner::AttemptRecord& attempt, const runner::Captured runner::RankRecord::*stream,
                        std::size_t bytes_max);

}  // namespace distrun::report
