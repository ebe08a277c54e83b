#include <distrun/runner/report/text/progress.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

#include <distrun/common/base/rank_list.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/report/text/excerpt.hpp>

namespace distrun::report {
namespace {

constexpr std::size_t kIdWidthMin = 24;  // ids are shortened to this before anything else is shortened
constexpr std::size_t kRankListMax = 16;
// Several CI services kill a job that prints nothing for ten minutes.
constexpr base::Nanoseconds kSilenceMax = std::chrono::minutes(5);

// Returns " on node02" if all of the ranks run there.
std::string on_one_host(const std::vector<int>& ranks, const std::vector<std::string>& hosts) {
  const auto host_of = [&hosts](int rank) {
    const auto index = static_cast<std::size_t>(rank);
    return index < hosts.size() ? hosts[index] : std::string();
  };
  const std::string host = host_of(ranks.front());
  const bool is_one = std::all_of(ranks.begin(), ranks.end(), [&](int rank) { return host_of(rank) == host; });
  return host.empty() || !is_one ? "" : " on " + host;
}

}  // namespace

void Progress::run_started(int tests) { tests_ = tests; }

void Progress::test_started(const std::string& id, base::TimePoint now) {
  running_[id] = {now, ++started_, {}, {}, {}};
  estimate_.started(id);
  waits_.erase(id);  // they belong to an earlier attempt
}

void Progress::attempt_started(const std::string& id, int world_size) {
  const auto at = running_.find(id);
  if (at == running_.end()) return;
  at->second.doing.assign(static_cast<std::size_t>(std::max(world_size, 0)), name_of(wire::Phase::Spawn));
  at->second.hosts.assign(at->second.doing.size(), "");
}

void Progress::rank_on_host(const std::string& id, int rank, const std::string& host) {
  const auto at = running_.find(id);
  if (at == running_.end() || rank < 0) return;
  const auto index = static_cast<std::size_t>(rank);
  if (index < at->second.hosts.size()) at->second.hosts[index] = host;
}

void Progress::rank_in_phase(const std::string& id, int rank, wire::Phase phase) { set(id, rank, name_of(phase)); }

void Progress::rank_ended(const std::string& id, int rank, runner::OutcomeKind outcome) {
  set(id, rank, name_of(outcome));
}

void Progress::test_ended(const runner::TestRecord& test) {
  running_.erase(test.info.id());
  ++ended_;
  if (!is_good(test.verdict)) ++bad_;
}

void Progress::resume(base::TimePoint now) {
  const base::Nanoseconds stood = now - std::min(now, std::exchange(paused_at_, base::TimePoint::max()));
  for (auto& [id, test] : running_) test.since += stood;
}

std::string Progress::doing_of(const Entry& test) const {
  const auto waits = waits_.find(test.first);
  return waits == waits_.end() ? activity_text(test.second.doing, test.second.hosts)
                               : base::one_line(waits->second, 400);
}

std::string Progress::left_text_of(base::TimePoint now) const {
  base::Nanoseconds sum{};
  base::Nanoseconds longest{};
  for (const auto& [id, test] : running_) {
    const base::Nanoseconds left = estimate_.left_of(id, age_of(test, now));
    sum += left;
    longest = std::max(longest, left);
  }
  const std::optional<base::Nanoseconds> left = estimate_.left(sum, longest);
  return left ? left_text(*left) : "";
}

std::string Progress::status(base::TimePoint now, std::size_t width) const {
  std::string head = std::to_string(ended_) + " of " + std::to_string(tests_);
  if (bad_ > 0) head += ", " + std::to_string(bad_) + " bad";
  if (const std::string left = left_text_of(now); !left.empty()) head += ", " + left;
  const Entry* entry = find_oldest();
  if (entry == nullptr) return fit(head, width);
  const auto& [id, test] = *entry;
  const std::string tail = ", " + base::human(age_of(test, now)) + " | " + doing_of(*entry);
  head += " | ";
  const std::size_t used = display_width(head) + display_width(tail);
  const std::size_t room = width > used + kIdWidthMin ? width - used : kIdWidthMin;
  return fit(head + fit_middle(base::one_line(id, 1000), room) + tail, width);
}

base::Nanoseconds Progress::next_told(const Running& test, base::Nanoseconds after) {
  return std::max(after, test.told_at + std::min(test.told_at, kSilenceMax));
}

bool Progress::has_slow(base::TimePoint now, base::Nanoseconds after) const {
  return std::any_of(running_.begin(), running_.end(),
                     [&](const Entry& each) { return age_of(each.second, now) >= next_told(each.second, after); });
}

std::vector<std::string> Progress::slow_tests(base::TimePoint now, base::Nanoseconds after) {
  std::vector<std::string> lines;
  for (Entry& entry : running_) {
    Running& test = entry.second;
    const base::Nanoseconds age = age_of(test, now);
    const base::Nanoseconds next = next_told(test, after);
    if (age < next) continue;
    test.told_at = next;
    lines.push_back(base::one_line(entry.first, 1000) + ", " + base::human(age) + " | " + doing_of(entry));
  }
  return lines;
}

void Progress::set(const std::string& id, int rank, const char* doing) {
  const auto at = running_.find(id);
  if (at == running_.end() || rank < 0) return;  // the host is not shown
  const auto index = static_cast<std::size_t>(rank);
  if (index < at->second.doing.size()) at->second.doing[index] = doing;
}

const Progress::Entry* Progress::find_oldest() const {
  const auto at = std::min_element(running_.begin(), running_.end(),
                                   [](auto& left, auto& right) { return left.second.order < right.second.order; });
  return at == running_.end() ? nullptr : &*at;
}

std::string activity_text(const std::vector<const char*>& doing, const std::vector<std::string>& hosts) {
  std::vector<std::pair<std::string_view, std::vector<int>>> groups;  // few: one per phase
  for (std::size_t rank = 0; rank < doing.size(); ++rank) {
    const std::string_view name = doing[rank];
    auto at = std::find_if(groups.begin(), groups.end(), [name](const auto& group) { return group.first == name; });
    if (at == groups.end()) at = groups.insert(groups.end(), {name, {}});
    at->second.push_back(static_cast<int>(rank));
  }
  std::string text;
  for (const auto& [name, ranks] : groups) {
    std::string list = base::rank_list(ranks);
    if (list.size() > kRankListMax) list = std::to_string(ranks.size()) + " ranks";
    if (!text.empty()) text += ", ";
    text += list + on_one_host(ranks, hosts) + " " + std::string(name);
  }
  return text;
}

}  // namespace distrun::report
