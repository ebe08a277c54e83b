#pragma once
// What the ranks of a test have measured (DISTRUN_MEASURE), one line for each name and unit: the median and the range
// of all values, in order of first appearance.
#include <string>
#include <vector>

#include <distrun/runner/record/record.hpp>
#include <distrun/runner/report/text/paint.hpp>

namespace distrun::report {

struct Measured {
  std::string name;
  std::string unit;            // may be empty
  std::vector<double> values;  // ascending
  std::vector<int> ranks;      // that have measured, ascending
  base::RankHosts hosts{};     // of all ranks
};

// Returns the values of the test's last attempt.
std::vector<Measured> measured(const runner::TestRecord& test);
// Returns "12.4 GB/s", or "median 12.4 GB/s, 11.9 to 12.6 GB/s (4 values of ranks 0-3)".
std::string measured_text(const Measured& measured);
// Returns a line for each, "bandwidth: median ...", below the test's line; empty if there are none. `width` 0: lines
// are not cut.
std::string measured_lines(const runner::TestRecord& test, const Paint& paint, int width);

}  // namespace distrun::report
