#pragma once
// The run as the summary of a step of GitHub Actions, in Markdown: totals, then what did not pass, each told in a line
// that opens to all that the console says of it, with stacks and output. All that tests have said is shown as text.
#include <cstddef>
#include <string>

#include <distrun/runner/record/record.hpp>

namespace distrun::report {

// GitHub drops the summary of a step, all of it, if it is larger. Others may have written to it before.
inline constexpr std::size_t kGithubSummaryMax = 1U << 20U;  // bytes
// Less room than this is none.
inline constexpr std::size_t kGithubSummaryMin = 8U << 10U;

// At most `bytes_max` bytes, which are kGithubSummaryMin or more. The most urgent tests come first; those for which
// there is no room are told in a line, then only counted, and a sentence says so.
std::string github_summary(const runner::RunRecord& run, std::size_t bytes_max);

}  // namespace distrun::report
