#include <distrun/runner/rank_list.hpp>

#include <algorithm>

namespace distrun::runner {

std::string rank_list(std::vector<int> ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  if (ranks.empty()) return "";
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i;
    while (end + 1 < ranks.size() && ranks[end + 1] == ranks[end] + 1) ++end;
    if (i > 0) text += ", ";
    text += std::to_string(ranks[i]);
    if (end > i) text += (end == i + 1 ? ", " : "-") + std::to_string(ranks[end]);
    i = end + 1;
  }
  return text;
}

}  // namespace distrun::runner
