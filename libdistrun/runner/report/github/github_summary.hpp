#pragma once
// Formats the run as the step summary of GitHub Actions, in Markdown: totals, then each test that did not pass as a
// line that unfolds to everything the console shows of it, with stacks and output. Output is plain text.
#include <cstddef>
#include <string>

#include <distrun/runner/record/record.hpp>

namespace distrun::report {

// If the summary of a step is larger, GitHub drops all of it. Other programs may have written to it before.
inline constexpr std::size_t kGithubSummaryMax = 1U << 20U;  // bytes
// If less room than this is left, no summary is written.
inline constexpr std::size_t kGithubSummaryMin = 8U << 10U;

// Returns at most `bytes_max` bytes; `bytes_max` is kGithubSummaryMin or more. The most urgent tests come first; tests
// that do not fit are reduced to a line, then only counted, and a sentence says so.
std::string github_summary(const runner::RunRecord& run, std::size_t bytes_max);

}  // namespace distrun::report
