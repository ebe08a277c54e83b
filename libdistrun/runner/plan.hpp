#pragma once
// What a run will do: the selected tests in order, each with the way it will run.
#include <string>
#include <vector>

#include <distrun/launch/node.hpp>
#include <distrun/runner/filter.hpp>
#include <distrun/runner/record.hpp>

namespace distrun::runner {

struct PlannedTest {
  wire::TestInfo info;
  std::string id;
  std::string plugin;
  Variant variant;
  // Its ranks are somebody's programs: they tell nothing, and their exit codes decide.
  bool is_program() const noexcept { return variant.isolation == "program"; }
  bool skipped() const noexcept { return !info.skip.empty(); }
};
launch::WorldSpec spec_of(const PlannedTest& test);

// What a lister is told of the run.
wire::ListOrder list_order(const Settings& settings);

// The tests of one plugin's table that the filter selects, in order of declaration.
std::vector<PlannedTest> plan(const std::string& plugin, wire::PluginTable table, const Filter& filter,
                              const Settings& settings);

}  // namespace distrun::runner
