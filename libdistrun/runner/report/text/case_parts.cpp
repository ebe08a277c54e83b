#include <distrun/runner/report/text/case_parts.hpp>

#include <algorithm>
#include <filesystem>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/record/describe.hpp>
#include <distrun/runner/report/text/excerpt.hpp>
#include <distrun/runner/report/text/findings.hpp>

namespace distrun::report {
namespace {

bool is_culprit(const runner::AttemptRecord& attempt, const runner::RankRecord& rank) {
  return std::find(attempt.culprits.begin(), attempt.culprits.end(), rank.rank) != attempt.culprits.end();
}

// An error caused by another rank's failure shows where the failure was noticed, not where it happened.
const runner::RankError* first_with_place(const runner::RankRecord& rank) {
  const auto at = std::find_if(rank.errors.begin(), rank.errors.end(), [](const runner::RankError& error) {
    return !error.file.empty() && error.because_of < 0;
  });
  return at == rank.errors.end() ? nullptr : &*at;
}

constexpr std::size_t kStreamMax = 16U << 10U;  // of one rank, to leave room for others

std::string prefixed(const base::RankHosts& hosts, int rank, std::string_view output) {
  const std::string prefix = rank < 0 ? "[host] " : "[" + hosts.label(rank) + "] ";
  std::string text;
  for (const std::string& line : base::split_lines(output)) text += prefix + line + "\n";
  return excerpt_bytes(text, kStreamMax);
}

}  // namespace

std::string plugin_name(const runner::TestRecord& test) { return std::filesystem::path(test.plugin).stem().string(); }

std::string case_name(const runner::TestRecord& test) {
  const std::string id = test.info.id();
  return id.substr(std::min(id.size(), test.info.suite.size() + 1));
}

SourcePlace failure_place(const runner::TestRecord& test, const runner::AttemptRecord* attempt) {
  if (attempt != nullptr) {
    const bool has_place = runner::is_explained_hang(*attempt) && !attempt->hang.front().place.file.empty();
    if (has_place) return {attempt->hang.front().place.file, attempt->hang.front().place.line};
    for (const runner::RankRecord* rank : culprits_first(*attempt)) {
      if (!is_culprit(*attempt, *rank)) break;
      if (const runner::RankError* error = first_with_place(*rank)) return {error->file, error->line};
    }
  }
  return {test.info.file, test.info.line};
}

std::string rank_output(const runner::AttemptRecord& attempt, const runner::Captured runner::RankRecord::*stream,
                        std::size_t bytes_max) {
  const base::RankHosts hosts = hosts_of(attempt);
  std::string text;
  for (const runner::RankRecord* rank : culprits_first(attempt)) {
    text += prefixed(hosts, rank->rank, (rank->*stream).text);
  }
  return excerpt_bytes(text, bytes_max);
}

}  // namespace distrun::report
