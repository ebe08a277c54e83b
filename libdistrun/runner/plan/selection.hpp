#pragma once
// Which of the tests that the filters let through run, and in what order: those that did not pass in an earlier run,
// this machine's shard of them, shuffled.
//
// Shards are dealt out in turn over the declared order, as cards are. So their sizes differ by one at most, and the
// neighbours of a long suite go to different machines; by a hash of the id a test would keep its shard when others
// come and go, but ten tests on four machines would often leave one without any. Every machine must be given the same
// plugins and filters; order and shuffling come afterwards and change nothing.
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <distrun/runner/plan/plan.hpp>

namespace distrun::runner {

// The tests of settings.rerun. A test's plugin is that of the same path, or, where none of the given has that path,
// those of the same file name: reports travel between machines.
class Rerun {
 public:
  explicit Rerun(const Settings& settings);

  // Takes from the plugin's table what is not wanted. Of a run that reruns nothing: nothing.
  void keep_wanted(const std::string& plugin, wire::PluginTable& table);
  // Ids that no plugin which could be listed has, sorted.
  std::vector<std::string> gone() const { return {gone_.begin(), gone_.end()}; }

 private:
  bool active_;
  std::map<std::string, std::set<std::string>> wanted_;  // ids by plugin as given now
  std::set<std::string> gone_;
};

// Every test is in exactly one shard of those with the same count.
std::vector<PlannedTest> shard_of(std::vector<PlannedTest> tests, const Shard& shard);

// An order that depends on the seed and the tests alone: fewer tests keep theirs. The tests of a plugin stay together,
// since its zygote would have to be made again for each of them otherwise; so do those of a suite whose ranks stay.
void shuffle(std::vector<PlannedTest>& tests, std::uint64_t seed);

}  // namespace distrun::runner
