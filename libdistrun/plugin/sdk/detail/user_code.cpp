#include <distrun/plugin/sdk/detail/user_code.hpp>

#include <distrun/plugin/sdk/detail/string.hpp>

namespace distrun::detail {

std::int32_t result_of(Rank& rank, const std::optional<Skip>& skip) {
  Tally& tally = rank.tally();
  if (skip && tally.failed()) {
    tally.report({.type = "Skip", .text = "skipped after a failed check: " + skip->reason});
  }
  tally.finish();
  if (tally.failed()) return DISTRUN_FAILED;
  if (!skip) return DISTRUN_OK;
  rank.line().skip(rank.line().self, skip->code, lend(skip->reason));
  return DISTRUN_SKIPPED;
}

}  // namespace distrun::detail
