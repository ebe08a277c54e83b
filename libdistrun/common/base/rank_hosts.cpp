#include <distrun/common/base/rank_hosts.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/rank_list.hpp>

namespace distrun::base {
namespace {

constexpr std::size_t kHostsMax = 4;   // named one by one
constexpr std::size_t kTextMax = 120;  // bytes of a list that names them

// The ranks of a list that run on one host.
struct Part {
  std::string host;
  std::vector<int> ranks;
};

}  // namespace

RankHosts::RankHosts(std::vector<std::string> by_rank) {
  const bool any = std::any_of(by_rank.begin(), by_rank.end(), [](const std::string& host) { return !host.empty(); });
  if (any) by_rank_ = std::make_shared<const std::vector<std::string>>(std::move(by_rank));
}

const std::string& RankHosts::of(int rank) const {
  static const std::string kThisMachine;
  const bool is_known = by_rank_ != nullptr && rank >= 0 && static_cast<std::size_t>(rank) < by_rank_->size();
  return is_known ? (*by_rank_)[static_cast<std::size_t>(rank)] : kThisMachine;
}

std::string RankHosts::name_of_host(int rank) const {
  const std::string& host = of(rank);
  return host.empty() ? "this machine" : host;
}

std::string RankHosts::label(int rank) const { return label(std::vector<int>{rank}); }

std::string RankHosts::label(const std::vector<int>& ranks) const {
  const bool has_host = std::any_of(ranks.begin(), ranks.end(), [](int rank) { return rank < 0; });
  if (empty() || ranks.empty() || has_host) return ranks_label(ranks);
  std::vector<Part> parts;
  for (const int rank : ranks) {
    const std::string host = name_of_host(rank);
    auto part = std::find_if(parts.begin(), parts.end(), [&](const Part& each) { return each.host == host; });
    if (part == parts.end()) part = parts.insert(parts.end(), {host, {}});
    part->ranks.push_back(rank);
  }
  if (parts.size() == 1) return ranks_label(ranks) + " on " + parts.front().host;
  std::string text;
  for (const Part& part : parts) {
    text += (text.empty() ? "ranks " : ", ") + rank_list(part.ranks) + " on " + part.host;
  }
  if (parts.size() <= kHostsMax && text.size() <= kTextMax) return text;
  return ranks_label(ranks) + " on " + std::to_string(parts.size()) + " hosts";
}

}  // namespace distrun::base
