#pragma once
// The results of `distrun doctor`, as text and as JSON.
#include <string>
#include <vector>

#include <distrun/runner/evidence/stacks/text_line.hpp>
#include <distrun/runner/record/doctor/examination.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::cli {

// The result for one test, or for processes.
struct ExaminedTest {
  std::string test;           // empty: processes that are no ranks
  runner::Snapshot snapshot;  // the later of two
  runner::doctor::Examination examination;
};

// The time after the first snapshot until the threads that it has stopped are back in their waits, also on a busy
// machine: then their CPU times are read.
inline constexpr auto kSettling = std::chrono::milliseconds(150);
// The time from then to the second snapshot. A proof needs threads that do nothing meanwhile: it is longer than a
// thread that is ready to run waits for a CPU on a busy machine, and short for the user.
inline constexpr auto kBetweenSnapshots = std::chrono::milliseconds(300);

runner::doctor::HangFinding finding_of(const std::vector<ExaminedTest>& tests);
// Returns the causes, then the stacks.
std::vector<evidence::Line> lines_of(const ExaminedTest& test);
// Returns a document of the schema distrun.doctor/1; `run_id` is empty for processes.
std::string examination_json(const std::string& run_id, const std::vector<ExaminedTest>& tests);

}  // namespace distrun::cli
