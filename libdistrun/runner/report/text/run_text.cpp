#include <distrun/runner/report/text/run_text.hpp>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/report/text/failure_text.hpp>
#include <distrun/runner/report/text/measured.hpp>
#include <distrun/runner/report/text/slow_tests.hpp>
#include <distrun/runner/report/text/stress_text.hpp>
#include <distrun/runner/report/text/test_line.hpp>

namespace distrun::report {
namespace {

using runner::Verdict;

constexpr std::size_t kFailuresMax = 50;  // shown in full; each has had its line before

bool is_told(Verdict verdict) { return !is_good(verdict) && verdict != Verdict::Cancelled; }

template <class Chosen>
void add_failures(std::string& out, const runner::RunRecord& run, const Paint& paint, bool with_output,
                  const Chosen& chosen) {
  std::size_t count = 0;
  for (const runner::TestRecord& test : run.tests) {
    if (!chosen(test.verdict) || ++count > kFailuresMax) continue;
    out += '\n' + failure_text(run.settings, test, paint, with_output);
  }
  if (count > kFailuresMax) {
    out += "\n" + std::to_string(count - kFailuresMax) + " more are only in the reports\n";
  }
}

// "9 pass, 1 fail, 1 skip"
std::string totals_text(const runner::RunRecord& run, const Paint& paint) {
  std::string text;
  for (int i = 0; i < runner::kVerdictCount; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    if (run.total(verdict) == 0) continue;
    if (!text.empty()) text += ", ";
    text += paint(style_of(verdict), std::to_string(run.total(verdict)) + " " + name_of(verdict));
  }
  return text;
}

// The problems that kept tests from running are printed above this line.
std::string nothing_text(const runner::RunRecord& run) {
  if (is_empty_shard(run)) return shard_text(run.settings.shard, run.selected) + " is empty";
  const std::size_t problems = run.problems.size();
  if (problems == 0) return "no test was selected";
  return (problems == 1 ? "1 problem" : std::to_string(problems) + " problems") + ", and no test ran";
}

// Lists names of unknown origin on one line, however many there are.
std::string appeared_text(const std::vector<std::string>& names, const Paint& paint) {
  constexpr std::size_t kNamed = 3;
  if (names.empty()) return "";
  const bool one = names.size() == 1;
  std::string line = (one ? "a new name" : std::to_string(names.size()) + " new names") + " appeared during the run, " +
                     "perhaps created by another program: ";
  for (std::size_t i = 0; i < names.size() && i < kNamed; ++i) {
    line += (i > 0 ? ", " : "") + base::one_line(names[i], 200);
  }
  if (names.size() > kNamed) line += " and " + std::to_string(names.size() - kNamed) + " more";
  return paint(Style::Dim, "note: " + line) + "\n";
}

}  // namespace

std::string totals_line(const runner::RunRecord& run, const Paint& paint) {
  const std::string totals = totals_text(run, paint);
  std::string line = run.interrupted ? paint(Style::Odd, "interrupted") + ", " : "";
  line += totals.empty() ? nothing_text(run) : totals;
  return line + paint(Style::Dim, " in " + base::human(run.duration)) + "\n";
}

std::string run_end_text(const runner::RunRecord& run, const std::vector<std::string>& reports, const Paint& paint,
                         std::size_t slow, ToldBefore told, bool verbose) {
  std::string out;
  add_failures(out, run, paint, !told.output, [](Verdict verdict) { return verdict == Verdict::Flaky; });
  add_failures(out, run, paint, !told.output, is_told);
  out += '\n';
  const bool still_stand_above = told.problems && run.tests.empty();
  for (const runner::Problem& problem : run.problems) {
    if (!still_stand_above) out += problem_lines(problem, paint);
  }
  for (const std::string& notice : run.notices) out += notice_line(notice, paint);
  out += stress_text(run, paint);
  if (verbose) out += appeared_text(run.appeared, paint);
  for (const std::string& report : reports) out += "report: " + base::one_line(report, 500) + "\n";
  out += slow_tests_text(run, slow, paint);
  return out + totals_line(run, paint);
}

std::string show_text(const runner::RunRecord& run, const Paint& paint, std::size_t slow, bool verbose) {
  std::string text = run_line(run, static_cast<int>(run.tests.size()), paint) + "\n";
  for (const runner::TestRecord& test : run.tests) {
    text += test_line(test, paint, 0) + "\n" + measured_lines(test, paint, 0);
  }
  return text + run_end_text(run, {}, paint, slow, {}, verbose);
}

}  // namespace distrun::report
