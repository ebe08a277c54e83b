#include <distrun/runner/report/text/rank_output.hpp>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/report/text/excerpt.hpp>
#include <distrun/runner/report/text/findings.hpp>

namespace distrun::report {
namespace {

constexpr std::size_t kStreamMax = 16U << 10U;  // of one rank: a flood leaves room for others

std::string prefixed(int rank, std::string_view output) {
  const std::string prefix = rank < 0 ? "[host] " : "[rank " + std::to_string(rank) + "] ";
  std::string text;
  for (const std::string& line : base::split_lines(output)) text += prefix + line + "\n";
  return excerpt_bytes(text, kStreamMax);
}

}  // namespace

std::string rank_output(const runner::AttemptRecord& attempt,
                        const runner::Captured runner::RankRecord::*stream, std::size_t bytes_max) {
  std::string text;
  for (const runner::RankRecord* rank : culprits_first(attempt)) {
    text += prefixed(rank->rank, (rank->*stream).text);
  }
  return excerpt_bytes(text, bytes_max);
}

}  // namespace distrun::report
