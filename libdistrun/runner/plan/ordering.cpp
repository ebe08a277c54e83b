#include <distrun/runner/plan/ordering.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

#include <distrun/runner/plan/schedule.hpp>

namespace distrun::runner {
namespace {

constexpr Nanoseconds kUnknownTakes = std::chrono::seconds(1);

std::string key_of(const std::string& plugin, const std::string& id) { return plugin_name(plugin) + '\n' + id; }

// Smaller keys run earlier.
using SortKey = std::pair<int, Nanoseconds>;

SortKey place_of(const PlannedTest& test, const HintOf& hint_of) {
  if (test.skipped()) return {2, {}};
  const Hint hint = hint_of(test);
  const bool failed = hint.last && *hint.last != Verdict::Pass;
  return {failed ? 0 : 1, -hint.median.value_or(kUnknownTakes)};
}

SortKey place_of(const Batch& batch, const std::vector<SortKey>& tests) {
  SortKey place{2, {}};
  for (std::size_t i = batch.begin; i < batch.end; ++i) {
    place.first = std::min(place.first, tests[i].first);
    place.second += tests[i].second;
  }
  return place;
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
  order_failed_first(tests, [&](const PlannedTest& test) { return hints.of(test.plugin, test.id); });
}

void order_failed_first(std::vector<PlannedTest>& tests, const HintOf& hint_of) {
  std::vector<SortKey> places;
  for (const PlannedTest& test : tests) places.push_back(place_of(test, hint_of));
  using Ranked = std::tuple<SortKey, std::size_t, SortKey, std::size_t>;  // batch, its begin, test, its index
  std::vector<Ranked> order;
  for (const Batch& batch : batches(tests)) {
    const SortKey place = place_of(batch, places);
    for (std::size_t i = batch.begin; i < batch.end; ++i) order.emplace_back(place, batch.begin, places[i], i);
  }
  std::sort(order.begin(), order.end());
  std::vector<PlannedTest> ordered;
  ordered.reserve(tests.size());
  for (const Ranked& ranked : order) ordered.push_back(std::move(tests[std::get<3>(ranked)]));
  tests = std::move(ordered);
}

}  // namespace distrun::runner
