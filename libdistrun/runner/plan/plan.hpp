#pragma once
// The plan of a run: the selected tests in order, each with its variant.
#include <memory>
#include <string>
#include <vector>

#include <distrun/runner/launch/node.hpp>
#include <distrun/runner/plan/filter.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

inline constexpr std::int32_t kSkipCode = 86;  // the generic code of the skip table

// The data that a suite's host gives to the suite's ranks.
struct SuiteShare {
  std::string dir;
  std::string tmp_dir;  // the host's TMPDIR
  std::vector<wire::KeyValue> settings;
  bool lost = false;  // the host has died: no further rank may start
};

struct PlannedTest {
  wire::TestInfo info;
  std::string id;
  std::string plugin;
  Variant variant;
  wire::HostWork host = wire::HostWork::None;  // not None: this is not a test, but work of its suite's host
  std::shared_ptr<const SuiteShare> share;     // of its suite; null: the suite has no host
  int retries = -1;                            // -1: those of the run

  bool is_host() const noexcept { return host != wire::HostWork::None; }
  // Its ranks are arbitrary programs: they report nothing, and their exit codes decide.
  bool is_program() const noexcept { return variant.isolation == Isolation::Program; }
  bool skipped() const noexcept { return !info.skip.empty(); }
};
launch::WorldSpec spec_of(const PlannedTest& test);

// Returns the settings of the run for a lister.
wire::ListOrder list_order(const Settings& settings);

// Lists the tests of a plugin once for each world size of the run and of its overrides. A test that fixes its size, or
// wants a rank per device, is in the table once. If the run has several sizes, others have the size in their ids,
// unless an override sets it. Throws as launch::Node::list().
io::Task<wire::PluginTable> list_tests(launch::Node& node, const std::string& plugin, const Settings& settings,
                                       Nanoseconds bound);

// Returns the tests of one plugin's table that the filter selects, in order of declaration.
std::vector<PlannedTest> plan(const std::string& plugin, wire::PluginTable table, const Filter& filter,
                              const Settings& settings);

}  // namespace distrun::runner
