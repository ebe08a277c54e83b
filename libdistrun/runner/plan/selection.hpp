#pragma once
// Selects and orders the tests that the filters let through: those that did not pass in an earlier run, this machine's
// shard of them, shuffled.
//
// Shards take tests in turn from the declared order. So their sizes differ by one at most, and neighbours in a long
// suite go to different machines. Hashing the id would keep a test in its shard when others are added or removed, but
// ten tests on four machines would often leave one machine without any. Every machine must get the same plugins and
// filters; ordering and shuffling come afterwards and do not affect the shards.
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <distrun/runner/plan/plan.hpp>

namespace distrun::runner {

// The tests of settings.rerun. A test's plugin is the given one of the same path or, if no path matches, those of the
// same file name: reports travel between machines.
class Rerun {
 public:
  explicit Rerun(const Settings& settings);

  // Removes unwanted tests from the plugin's table. Does nothing in a run without a rerun.
  void keep_wanted(const std::string& plugin, wire::PluginTable& table);
  // Returns the ids that none of the listed plugins has, sorted.
  std::vector<std::string> gone() const { return {gone_.begin(), gone_.end()}; }

 private:
  bool active_;
  std::map<std::string, std::set<std::string>> wanted_;  // ids by plugin as given now
  std::set<std::string> gone_;
};

// Every test is in exactly one of the shards of the same count.
std::vector<PlannedTest> shard_of(std::vector<PlannedTest> tests, const Shard& shard);

// Orders by the seed and the tests alone, so a smaller selection keeps its relative order. Keeps the tests of a plugin
// together, since otherwise each would need a new zygote; likewise those of a suite with persistent ranks.
void shuffle(std::vector<PlannedTest>& tests, std::uint64_t seed);

}  // namespace distrun::runner
