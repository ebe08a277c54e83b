#pragma once
// Formats a whole run for people.
#include <cstddef>
#include <string>
#include <vector>

#include <distrun/runner/record/record.hpp>
#include <distrun/runner/report/text/paint.hpp>

namespace distrun::report {

// Returns the end of a run on the console: flaky tests, failed ones, problems, paths of reports, the `slow` slowest
// tests, and the totals as the last line. Problems already shown are omitted if no test ran, since they are right
// above; output already shown is omitted, too. `verbose` adds names that may be other programs'.
struct ToldBefore {
  bool problems = false;
  bool output = false;
};
std::string run_end_text(const runner::RunRecord& run, const std::vector<std::string>& reports, const Paint& paint,
                         std::size_t slow = 0, ToldBefore told = {}, bool verbose = false);

// Returns "9 pass, 1 fail in 3.5 s", one line with its newline.
std::string totals_line(const runner::RunRecord& run, const Paint& paint);

// Formats a run read from its summary as the console showed it: a line per test, then the failures.
std::string show_text(const runner::RunRecord& run, const Paint& paint, std::size_t slow = 0, bool verbose = false);

}  // namespace distrun::report
