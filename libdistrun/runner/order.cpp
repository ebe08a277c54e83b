#include <distrun/runner/order.hpp>

#include <algorithm>
#include <utility>

namespace distrun::runner {
namespace {

constexpr Nanoseconds kUnknownTakes = std::chrono::seconds(1);

std::string key_of(const std::string& plugin, const std::string& id) { return plugin_name(plugin) + '\n' + id; }

// The less, the earlier.
std::pair<int, Nanoseconds> place_of(const PlannedTest& test, const Hints& hints) {
  if (test.skipped()) return {2, {}};
  const Hint hint = hints.of(test.plugin, test.id);
  const bool failed = hint.last && *hint.last != Verdict::Pass;
  return {failed ? 0 : 1, -hint.median.value_or(kUnknownTakes)};
}

}  // namespace

std::string plugin_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

void Hints::add(const std::string& plugin, const std::string& id, const Hint& hint) {
  hints_.insert_or_assign(key_of(plugin, id), hint);
}

Hint Hints::of(const std::string& plugin, const std::string& id) const {
  const auto found = hints_.find(key_of(plugin, id));
  return found == hints_.end() ? Hint{} : found->second;
}

void order_failed_first(std::vector<PlannedTest>& tests, const Hints& hints) {
  std::vector<std::pair<std::pair<int, Nanoseconds>, std::size_t>> places;
  for (std::size_t i = 0; i < tests.size(); ++i) places.push_back({place_of(tests[i], hints), i});
  std::sort(places.begin(), places.end());
  std::vector<PlannedTest> ordered;
  ordered.reserve(tests.size());
  for (const auto& [place, i] : places) ordered.push_back(std::move(tests[i]));
  tests = std::move(ordered);
}

}  // namespace distrun::runner
