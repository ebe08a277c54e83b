#include <distrun/common/base/rank_list.hpp>

namespace distrun::base {
namespace {

constexpr std::size_t kListMax = 40;

std::string name_of_rank(int rank) { return rank < 0 ? "host" : std::to_string(rank); }

}  // namespace

std::string rank_list(const std::vector<int>& ranks) {
  std::string text;
  for (std::size_t from = 0; from < ranks.size();) {
    std::size_t to = from;
    while (to + 1 < ranks.size() && ranks[from] >= 0 && ranks[to + 1] == ranks[to] + 1) ++to;
    if (!text.empty()) text += ", ";
    text += name_of_rank(ranks[from]);
    if (to > from) text += "-" + name_of_rank(ranks[to]);
    from = to + 1;
  }
  return text;
}

std::string ranks_label(const std::vector<int>& ranks) {
  if (ranks.size() == 1) return ranks.front() < 0 ? "the host" : "rank " + rank_list(ranks);
  const std::string list = rank_list(ranks);
  if (list.size() <= kListMax) return "ranks " + list;
  const std::string start = list.substr(0, list.rfind(", ", kListMax));
  return std::to_string(ranks.size()) + " ranks (" + start + ", ...)";
}

}  // namespace distrun::base
