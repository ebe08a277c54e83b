#pragma once
// Output for a step of GitHub Actions: annotations on standard output, printed last, and a part of the step's summary
// (GITHUB_STEP_SUMMARY). GitHub executes log lines that look like commands. Output of tests may contain such lines, so
// commands are disabled until the annotations.
#include <string>

#include <distrun/runner/record/record.hpp>

#include "options/options.hpp"

namespace distrun::cli {

class GithubOutput {
 public:
  // Disables commands in later output. If standard output is not free for GitHub, writes nothing to it.
  GithubOutput(const GithubOptions& options, bool stdout_is_free);
  // Enables commands again.
  ~GithubOutput();
  GithubOutput(const GithubOutput&) = delete;
  GithubOutput& operator=(const GithubOutput&) = delete;

  // Does nothing if GitHub has set no summary file. Throws Error{Failed} if the file cannot be extended.
  void add_summary(const runner::RunRecord& run) const;
  // Printed last. Does not report a failure of standard output, which the console reports.
  void annotate(const runner::RunRecord& run);

 private:
  void obey_again();

  bool on_;
  bool annotates_;
  bool skips_;
  std::string token_;  // ends the part with commands disabled; empty: they are enabled
};

}  // namespace distrun::cli
