#pragma once
// Runs as the runner would have recorded them, a day apart.
#include <string>
#include <utility>
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::history::samples {

using namespace std::chrono_literals;
using runner::Verdict;

inline constexpr std::int64_t kDayMs = std::int64_t{24} * 3600 * 1000;

// A test "Suite.name" with the result of its only attempt.
inline runner::TestRecord test_of(const std::string& id, Verdict verdict = Verdict::Pass,
                                  base::Nanoseconds duration = 10ms, const std::string& message = "") {
  runner::TestRecord test;
  test.info.suite = id.substr(0, id.find('.'));
  test.info.name = id.substr(id.find('.') + 1);
  test.plugin = "build/plugins/ring.so";
  test.variant = {4, "shm", "pipe", "none", Isolation::Process, ""};
  test.verdict = verdict;
  test.message = message;
  test.duration = duration + 1ms;
  test.attempts.emplace_back();
  test.attempts.back().verdict = verdict;
  test.attempts.back().duration = duration;
  return test;
}

inline runner::RunRecord run_of(const std::string& run_id, int day, std::vector<runner::TestRecord> tests) {
  runner::RunRecord run;
  run.run_id = run_id;
  run.started_wall_ns = day * kDayMs * 1'000'000;
  run.duration = 1s;
  run.machine.hostname = "here";
  run.tests = std::move(tests);
  for (const runner::TestRecord& test : run.tests) ++run.totals[static_cast<std::size_t>(test.verdict)];
  return run;
}

}  // namespace distrun::history::samples
