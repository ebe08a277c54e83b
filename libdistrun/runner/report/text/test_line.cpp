#include <distrun/runner/report/text/test_line.hpp>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/report/text/excerpt.hpp>
#include <distrun/runner/report/text/repeat_command.hpp>

namespace distrun::report {
namespace {

constexpr std::size_t kVerdictWidth = 11;   // "infra-error"
constexpr std::size_t kDurationWidth = 12;  // "123 min 45 s"

std::string spaces(std::size_t count) { return std::string(count, ' '); }

std::string plural(int count, const char* what) { return std::to_string(count) + " " + what + (count == 1 ? "" : "s"); }

std::string verdict_column(runner::Verdict verdict, const Paint& paint) {
  const std::string_view word = name_of(verdict);
  const std::size_t width = word.size() < kVerdictWidth ? kVerdictWidth - word.size() : 0;
  return paint(style_of(verdict), word) + spaces(width);
}

// Right-aligned; blank for a test without an attempt.
std::string duration_column(const runner::TestRecord& test) {
  const std::string text = test.attempts.empty() ? "" : base::human(test.duration);
  return (text.size() < kDurationWidth ? spaces(kDurationWidth - text.size()) : "") + text;
}

// Leaves out options that the tests do not use and the user did not set.
std::string used_text(const runner::RunRecord& run) {
  static const runner::Settings usual;
  const runner::Settings& settings = run.settings;
  std::string text;
  if (run.uses_backend || settings.backend != usual.backend) text += ", backend " + base::one_line(settings.backend);
  if (run.uses_agent || settings.agent != usual.agent) text += ", agent " + base::one_line(settings.agent);
  return text;
}

}  // namespace

std::string test_line(const runner::TestRecord& test, const Paint& paint, int width) {
  std::string id = base::one_line(test.info.id(), 2000);
  std::string cause;
  if (test.verdict != runner::Verdict::Pass && !test.message.empty()) {
    cause = " - " + base::one_line(test.message);
  }
  if (width > 0) {
    const std::size_t taken = kVerdictWidth + kDurationWidth + 3;
    const auto columns = static_cast<std::size_t>(width);
    const std::size_t room = columns > taken + 20 ? columns - taken : 20;
    id = fit_middle(id, room);
    const std::size_t used = display_width(id);
    cause = room > used + 8 ? fit(cause, room - used) : "";
  }
  return verdict_column(test.verdict, paint) + " " + duration_column(test) + "  " + id + paint(Style::Dim, cause);
}

std::string start_line(const runner::AttemptStart& start, const Paint& paint) {
  constexpr std::string_view kWord = "running";
  const std::string again = start.n > 1 ? ", attempt " + std::to_string(start.n) : "";
  return paint(Style::Dim, kWord) + spaces(kVerdictWidth - kWord.size() + 1 + kDurationWidth + 2) +
         base::one_line(start.id, 2000) + again;
}

std::string shard_text(const runner::Shard& shard, int selected) {
  return "shard " + std::to_string(shard.index) + "/" + std::to_string(shard.count) + " of " + plural(selected, "test");
}

std::string run_line(const runner::RunRecord& run, int tests, const Paint& paint) {
  const runner::Settings& settings = run.settings;
  if (!settings.program.empty()) {
    return paint(Style::Bold, "run " + base::one_line(run.run_id)) + ": " + base::one_line(settings.program.front()) +
           ", world size " + std::to_string(settings.world_size) + "\n";
  }
  std::string line = paint(Style::Bold, "run " + base::one_line(run.run_id)) + ": " + plural(tests, "test") +
                     (settings.world_sizes.empty() ? ", world size " : ", world sizes ") + world_sizes_text(settings) +
                     used_text(run);
  if (settings.gpus > 0) {
    line += ", " + plural(settings.gpus, "GPU") + " (" + base::one_line(settings.gpu_driver) + ")";
  }
  if (settings.isolation != Isolation::Process) line += std::string(", isolation ") + name_of(settings.isolation);
  if (settings.jobs > 1) line += ", " + std::to_string(settings.jobs) + " tests in parallel";
  if (settings.bind == runner::Bind::Core) line += ", ranks bound to cores";
  if (settings.bind == runner::Bind::Numa) line += ", ranks bound to NUMA nodes";
  if (settings.repeat > 1) line += ", each " + std::to_string(settings.repeat) + " times";
  if (settings.until_fail > 0) {
    line += ", each until it fails, at most " + std::to_string(settings.until_fail) + " times";
  }
  if (settings.stress.count() > 0) {
    line += ", stress for " + base::human(settings.stress) + " with load " + stress_load_text(settings);
  }
  if (settings.retries > 0) line += ", retries " + std::to_string(settings.retries);
  if (settings.shard.count > 1) line += ", " + shard_text(settings.shard, run.selected);
  if (settings.shuffle) line += ", shuffled";
  if (!settings.config.empty()) line += ", config " + base::one_line(settings.config, 500);
  return line + ", seed " + std::to_string(settings.seed) + "\n";
}

std::string problem_lines(const runner::Problem& problem, const Paint& paint) {
  std::string out = paint(Style::Bad, "problem:");
  if (!problem.plugin.empty()) out += " " + base::one_line(problem.plugin) + ":";
  if (!problem.phase.empty()) out += " " + base::one_line(problem.phase) + ":";
  const std::vector<std::string> lines = excerpt_lines(problem.text, 40);
  for (std::size_t i = 0; i < lines.size(); ++i) out += (i == 0 ? " " : "\n  ") + lines[i];
  return out + "\n";
}

std::string notice_line(const std::string& text, const Paint& paint) {
  return paint(Style::Odd, "notice:") + " " + base::one_line(text, 400) + "\n";
}

}  // namespace distrun::report
