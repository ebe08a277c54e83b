#pragma once
// What a step of GitHub Actions is told: annotations on standard output, once everything else has been printed there,
// and a part of the step's summary (GITHUB_STEP_SUMMARY). GitHub obeys lines of its log that look like commands; so
// until the annotations it is told to obey none, since the text before them holds what tests have printed.
#include <string>

#include <distrun/runner/record/record.hpp>

#include "options/options.hpp"

namespace distrun::cli {

class GithubOutput {
 public:
  // Text printed from now on is obeyed no more. If standard output is not free for it, nothing is written there.
  GithubOutput(const GithubOptions& options, bool stdout_is_free);
  // GitHub obeys again.
  ~GithubOutput();
  GithubOutput(const GithubOutput&) = delete;
  GithubOutput& operator=(const GithubOutput&) = delete;

  // Nothing if GitHub has named no file. Throws Error{Failed} if it cannot be added to, or has no room.
  void add_summary(const runner::RunRecord& run) const;
  // Last of all that is printed. Nobody is told if standard output takes no more: it is the console's, too.
  void annotate(const runner::RunRecord& run);

 private:
  void obey_again();

  bool on_;
  bool annotates_;
  bool skips_;
  std::string token_;  // ends the part that is not obeyed; empty: everything is
};

}  // namespace distrun::cli
