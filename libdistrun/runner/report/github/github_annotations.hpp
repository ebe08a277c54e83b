#pragma once
// Annotations that GitHub shows beside the code: an error for each test that did not pass, at the failed check or the
// crash, and a warning for leaks and flaky tests. GitHub takes ten of each kind from a step and silently drops the
// rest. So the most urgent come first, equal failures share an annotation, and a notice counts the rest.
#include <string>

#include <distrun/runner/record/record.hpp>

namespace distrun::report {

inline constexpr std::size_t kGithubAnnotationsMax = 10;  // of each kind, per step

struct GithubAnnotationOptions {
  std::string workspace;  // paths below it are made relative to it, as GitHub requires; empty: no path is
  bool skips = false;     // adds a notice for each reason to skip tests
};

// Returns lines that end in newlines; empty if there are no annotations.
std::string github_annotations(const runner::RunRecord& run, const GithubAnnotationOptions& options);

}  // namespace distrun::report
