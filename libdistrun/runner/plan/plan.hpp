#pragma once
// What a run will do: the selected tests in order, each with the way it will run.
#include <memory>
#include <string>
#include <vector>

#include <distrun/runner/launch/node.hpp>
#include <distrun/runner/plan/filter.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

// What the host of a suite gives to the suite's ranks.
struct SuiteShare {
  std::string dir;
  std::string tmp_dir;  // the host's TMPDIR
  std::vector<wire::KeyValue> settings;
  bool lost = false;  // the host has died: no further rank is to start
};

struct PlannedTest {
  wire::TestInfo info;
  std::string id;
  std::string plugin;
  Variant variant;
  wire::HostWork host = wire::HostWork::None;  // this is no test, but the work of its suite's host
  std::shared_ptr<const SuiteShare> share;     // of its suite; null: it has no host

  bool is_host() const noexcept { return host != wire::HostWork::None; }
  // Its ranks are somebody's programs: they tell nothing, and their exit codes decide.
  bool is_program() const noexcept { return variant.isolation == Isolation::Program; }
  bool skipped() const noexcept { return !info.skip.empty(); }
};
launch::WorldSpec spec_of(const PlannedTest& test);

// What a lister is told of the run.
wire::ListOrder list_order(const Settings& settings);

// The tests of one plugin's table that the filter selects, in order of declaration.
std::vector<PlannedTest> plan(const std::string& plugin, wire::PluginTable table, const Filter& filter,
                              const Settings& settings);

}  // namespace distrun::runner
