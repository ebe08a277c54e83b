#pragma once
// What GitHub shows beside the code: an error for each test that did not pass, where its check failed or it crashed,
// and a warning for leaks and flaky tests. GitHub takes ten of each kind from a step and drops the rest silently; so
// the most urgent come first, what failed at the same place for the same reason is one annotation, and a notice says
// how many were left out.
#include <string>

#include <distrun/runner/record/record.hpp>

namespace distrun::report {

inline constexpr std::size_t kGithubAnnotationsMax = 10;  // of each kind, in a step

struct GithubAnnotationOptions {
  std::string workspace;  // paths below it are told relative to it, as GitHub wants them; empty: none is
  bool skips = false;     // a notice for each reason why tests were skipped
};

// Lines that end in newlines; empty if there is nothing to say.
std::string github_annotations(const runner::RunRecord& run, const GithubAnnotationOptions& options);

}  // namespace distrun::report
