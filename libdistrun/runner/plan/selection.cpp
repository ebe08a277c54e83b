#include <distrun/runner/plan/selection.hpp>

#include <algorithm>
#include <filesystem>
#include <tuple>
#include <utility>

#include <distrun/common/base/rng.hpp>
#include <distrun/runner/launch/node.hpp>

namespace distrun::runner {
namespace {

std::string file_name_of(const std::string& path) { return std::filesystem::path(path).filename().string(); }

// Returns those of the given plugins that may contain a test of `plugin`.
std::vector<std::string> places_of(const std::string& plugin, const std::vector<std::string>& given) {
  if (std::find(given.begin(), given.end(), plugin) != given.end()) return {plugin};
  std::vector<std::string> places;
  for (const std::string& path : given) {
    if (file_name_of(path) == file_name_of(plugin)) places.push_back(path);
  }
  return places;
}

}  // namespace

Rerun::Rerun(const Settings& settings) : active_(!settings.rerun_failed.empty()) {
  for (const TestName& test : settings.rerun) {
    const std::vector<std::string> places = places_of(test.plugin, settings.plugins);
    if (places.empty()) gone_.insert(test.id);
    for (const std::string& plugin : places) wanted_[plugin].insert(test.id);
  }
}

void Rerun::keep_wanted(const std::string& plugin, wire::PluginTable& table) {
  if (!active_) return;
  const std::set<std::string>& wanted = wanted_[plugin];
  std::set<std::string> missing = wanted;
  std::erase_if(table.tests, [&](const wire::TestInfo& test) {
    const std::string id = test.id();
    missing.erase(id);
    return !wanted.contains(id);
  });
  gone_.merge(missing);
}

std::vector<PlannedTest> shard_of(std::vector<PlannedTest> tests, const Shard& shard) {
  if (shard.count <= 1) return tests;
  std::vector<PlannedTest> mine;
  const auto step = static_cast<std::size_t>(shard.count);
  for (std::size_t i = static_cast<std::size_t>(shard.index) - 1; i < tests.size(); i += step) {
    mine.push_back(std::move(tests[i]));
  }
  return mine;
}

void shuffle(std::vector<PlannedTest>& tests, std::uint64_t seed) {
  using SortKey = std::tuple<std::uint64_t, std::string, std::uint64_t, std::uint64_t, std::size_t>;
  std::vector<SortKey> places;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    const PlannedTest& test = tests[i];
    const std::uint64_t place_of_plugin = base::derive_seed(seed, file_name_of(test.plugin));
    const bool suite_stays = base::ranks_stay(test.variant.isolation);
    const std::uint64_t place_of_suite = suite_stays ? base::derive_seed(seed, test.info.suite) : 0;
    places.emplace_back(place_of_plugin, test.plugin, place_of_suite, base::derive_seed(seed, test.id), i);
  }
  std::sort(places.begin(), places.end());
  std::vector<PlannedTest> shuffled;
  for (const SortKey& place : places) shuffled.push_back(std::move(tests[std::get<4>(place)]));
  tests = std::move(shuffled);
}

}  // namespace distrun::runner
