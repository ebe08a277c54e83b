#pragma once
// A run as a whole, for people.
#include <cstddef>
#include <string>
#include <vector>

#include <distrun/runner/record/record.hpp>
#include <distrun/runner/report/text/paint.hpp>

namespace distrun::report {

// How a run ends on the console: flaky tests, failed ones, problems, where the reports are, the `slow` slowest tests,
// and as the last line the totals. Problems that were told when they came are not told again where no test ran, so that
// they still stand right above. Output that was shown when it came is not shown again. `verbose` adds names that
// appeared and may be anybody's.
struct ToldBefore {
  bool problems = false;
  bool output = false;
};
std::string run_end_text(const runner::RunRecord& run, const std::vector<std::string>& reports, const Paint& paint,
                         std::size_t slow = 0, ToldBefore told = {}, bool verbose = false);

// "9 pass, 1 fail in 3.5 s", one line with its newline.
std::string totals_line(const runner::RunRecord& run, const Paint& paint);

// A run read back from its summary, as the console told it: a line per test, then what went wrong.
std::string show_text(const runner::RunRecord& run, const Paint& paint, std::size_t slow = 0, bool verbose = false);

}  // namespace distrun::report
