#pragma once
// Gathers the tests of a run before it starts: lists the plugins, plans and selects their tests, and removes them all
// if the run must not start. Problems go into the record. Lives on: the coordinator's loop.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <distrun/runner/attempt/private_tmp.hpp>
#include <distrun/runner/plan/plan.hpp>

namespace distrun::runner {

// Returns the problem of a plugin, in one of the run's phases. Error texts name the plugin, as the problem does:
// removes the duplicate.
Problem problem_of(const std::string& plugin, const char* phase, std::string text);

class Gathering {
 public:
  // Gathers into `tests`. `cancelled` turns true when the run is cancelled. All arguments must outlive this.
  Gathering(launch::Node& node, RunRecord& record, std::vector<PlannedTest>& tests, const bool& cancelled)
      : node_(node), record_(record), tests_(tests), cancelled_(cancelled) {}

  // Sets a function that orders the selected tests; the default is the order of declaration.
  void arrange(std::function<void(std::vector<PlannedTest>&)> arrange) { arrange_ = std::move(arrange); }
  // Call once. `private_tmps`, if not null, must be created for any test to run.
  io::Task<void> gather(PrivateTmps* private_tmps);

 private:
  io::Task<void> list_plugins();
  void skip_without_devices(std::vector<PlannedTest>& tests) const;
  void find_mpi(const std::string& plugin, wire::PluginTable& table);
  void skip_without_mpi(std::vector<PlannedTest>& tests) const;
  void select_tests();
  void refuse_to_debug_many();
  io::Task<void> require(PrivateTmps& private_tmps);
  void refuse_to_start(std::string why);

  launch::Node& node_;
  RunRecord& record_;
  std::vector<PlannedTest>& tests_;
  const bool& cancelled_;
  std::function<void(std::vector<PlannedTest>&)> arrange_;
};

}  // namespace distrun::runner
