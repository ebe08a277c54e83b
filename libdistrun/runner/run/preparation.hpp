#pragma once
// Loads plugins for their tests, one at a time, and releases each after the last of its tests. Lives on: the
// coordinator's loop.
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <distrun/common/io/one_shot.hpp>
#include <distrun/runner/launch/node.hpp>
#include <distrun/runner/plan/plan.hpp>

namespace distrun::runner {

class Preparation {
 public:
  using OnProblem = std::function<void(const std::string& plugin, const std::string& text)>;

  // `on_problem` is called once for each plugin that cannot be loaded. All arguments must outlive this object.
  Preparation(io::Loop& loop, launch::Node& node, const Settings& settings, OnProblem on_problem)
      : loop_(loop), node_(node), settings_(settings), on_problem_(std::move(on_problem)) {}

  // Counts the tests to come for each plugin.
  void expect(const std::vector<PlannedTest>& tests);
  // Call before each attempt. Sets the test's actual isolation. Returns false if the plugin cannot be loaded.
  io::Task<bool> prepare(PlannedTest& test);
  // Call after the test. Releases the plugin after its last test.
  void test_over(const PlannedTest& test);

 private:
  io::Task<std::string> load(PlannedTest& test);

  io::Loop& loop_;
  launch::Node& node_;
  const Settings& settings_;
  OnProblem on_problem_;
  std::map<std::string, int> to_come_;
  std::map<std::string, std::shared_ptr<io::OneShot<bool>>> loading_;  // set after the attempt to load
  std::set<std::string> unusable_;
};

}  // namespace distrun::runner
