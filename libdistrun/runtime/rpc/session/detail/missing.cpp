#include <distrun/runtime/rpc/session/detail/missing.hpp>

#include <optional>

#include <distrun/common/board/describe.hpp>
#include <distrun/runtime/core/rank_state.hpp>

namespace distrun::rpc {
std::string what_they_do(const std::vector<int>& ranks) {
  const core::RankLine* const line = core::rank_state().line();
  std::string text;
  for (const int rank : ranks) {
    const std::optional<board::Shown> shown = line != nullptr ? line->look_at(rank) : std::nullopt;
    const std::string what = shown ? board::doing(*shown) : "";
    text += (text.empty() ? "rank " : ", rank ") + std::to_string(rank) + (what.empty() ? "" : " (" + what + ")");
  }
  return text;
}

}  // namespace distrun::rpc
