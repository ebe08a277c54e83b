#pragma once
// Plugins made ready for their tests, by one at a time, and let go after the last of them. Lives on: the coordinator's
// loop.
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

  // `on_problem` is told once of each plugin that cannot be loaded. All must outlive it.
  Preparation(io::Loop& loop, launch::Node& node, const Settings& settings, OnProblem on_problem)
      : loop_(loop), node_(node), settings_(settings), on_problem_(std::move(on_problem)) {}

  // How many tests of which plugin there are to come.
  void expect(const std::vector<PlannedTest>& tests);
  // Before each attempt. The test's isolation becomes the one that it gets. False if the plugin cannot be loaded.
  io::Task<bool> prepare(PlannedTest& test);
  // The test is over. After the last of its plugin, that is let go.
  void test_over(const PlannedTest& test);

 private:
  io::Task<std::string> load(PlannedTest& test);

  io::Loop& loop_;
  launch::Node& node_;
  const Settings& settings_;
  OnProblem on_problem_;
  std::map<std::string, int> to_come_;
  std::map<std::string, std::shared_ptr<io::OneShot<bool>>> loading_;  // set when it has been tried
  std::set<std::string> unusable_;
};

}  // namespace distrun::runner
