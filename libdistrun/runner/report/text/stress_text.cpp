#include <distrun/runner/report/text/stress_text.hpp>

#include <algorithm>
#include <cstdio>

#include <distrun/common/base/text.hpp>

namespace distrun::report {
namespace {

constexpr std::size_t kMessageMax = 300;

base::Nanoseconds mean_of(const runner::StressRecord& stress) {
  return stress.runs == 0 ? base::Nanoseconds{} : stress.total / stress.runs;
}

std::string rate_text(double per_second) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f/s", per_second);
  return text;
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

// "P(fail) is between 0.16 % and 0.34 % with 95 % confidence"
std::string probability_text(const runner::StressRecord& stress) {
  const runner::Interval interval = runner::failure_interval(stress.failures, stress.runs);
  if (stress.failures == 0) return "P(fail) is at most " + runner::percent(interval.high) + " with 95 % confidence";
  return "P(fail) is between " + runner::percent(interval.low) + " and " + runner::percent(interval.high) +
         " with 95 % confidence";
}

std::string kind_line(const runner::StressFailure& kind, const Paint& paint) {
  return "  " + padded(std::to_string(kind.count) + " x", 9) +
         paint(style_of(kind.verdict), padded(name_of(kind.verdict), 12)) + base::one_line(kind.message, kMessageMax) +
         paint(Style::Dim, " (first in attempt " + std::to_string(kind.attempt) + ")") + "\n";
}

}  // namespace

std::string stress_text(const runner::RunRecord& run, const Paint& paint) {
  std::string text;
  for (const runner::TestRecord& test : run.tests) {
    if (!test.stress || test.stress->runs == 0) continue;
    const runner::StressRecord& stress = *test.stress;
    text += "stress of " + test.info.id() + ": " + runner::failures_text(stress) + "; " + probability_text(stress) +
            "; mean " + base::human(mean_of(stress)) + ", longest " + base::human(stress.longest) + "\n";
    int counted = 0;
    for (const runner::StressFailure& kind : stress.kinds) {
      text += kind_line(kind, paint);
      counted += kind.count;
    }
    if (counted < stress.failures) text += "  " + std::to_string(stress.failures - counted) + " x in other ways\n";
  }
  return text;
}

std::string stress_line(const runner::StressStatus& status, base::Nanoseconds length) {
  const runner::StressRecord& all = status.all;
  const double seconds = std::max(1e-3, static_cast<double>(status.elapsed.count()) / 1e9);
  const std::string of_length = base::human(length);
  std::string text = "stress " + std::to_string(static_cast<long>(seconds)) + " s of " + of_length;
  if (status.elapsed > length) {
    text = "stress " + of_length + " are over, " + std::to_string(status.running) +
           (status.running == 1 ? " attempt still runs" : " attempts still run");
  }
  return text + ": " + std::to_string(all.runs) + " runs, " + std::to_string(all.failures) + " failed (" +
         runner::percent(failure_share(all)) + "), " + rate_text(all.runs / seconds) + ", mean " +
         base::human(mean_of(all)) + ", longest " + base::human(all.longest);
}

}  // namespace distrun::report
