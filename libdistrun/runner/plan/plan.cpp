#include <distrun/runner/plan/plan.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

#include <distrun/runner/plan/machine_gpus.hpp>
#include <distrun/runner/plan/overrides.hpp>

namespace distrun::runner {
namespace {

Variant variant_of(const wire::TestInfo& info, const Settings& settings) {
  Variant variant;
  variant.world_size = info.world_size;
  variant.backend = settings.backend;
  variant.agent = settings.agent;
  variant.gpu_driver = settings.gpu_driver;
  variant.isolation = settings.isolation;
  if (!info.isolation.empty() && info.isolation != name_of(settings.isolation)) {
    variant.isolation = base::parse_isolation(info.isolation);
    variant.isolation_reason = "the test requires " + info.isolation;
  }
  if (info.needs_mpi && variant.isolation == Isolation::Pool) {
    variant.isolation = Isolation::Process;
    variant.isolation_reason = "a process can be in one world of MPI only";
  }
  return variant;
}

// Says why a test cannot run with this isolation; empty if it can.
std::string refusal(const wire::TestInfo& info, Isolation isolation, wire::Reuse reuse) {
  if (!base::ranks_stay(isolation)) return "";
  if (reuse == wire::Reuse::Once) {
    return std::string("its plugin runs only one test per process, but with the isolation ") + name_of(isolation) +
           " ranks stay";
  }
  if (isolation != Isolation::Threads) return "";
  if (reuse != wire::Reuse::Together) return "its plugin cannot run ranks as threads";
  if (info.needs_mpi) return "it needs MPI, whose ranks are processes";
  if (info.gpu_per_rank) return "it needs a separate device for each rank, and ranks that are threads share devices";
  if (info.env_rendezvous)
    return "it needs separate environment variables for each rank, and ranks that are threads share them";
  if (!info.may_die.empty()) return "it ends a rank on purpose, and ranks that are threads die together";
  return "";
}

void add_labels(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
  std::sort(to.begin(), to.end());
  to.erase(std::unique(to.begin(), to.end()), to.end());
}

void apply(const Override& changes, PlannedTest& test) {
  const auto timeout_ms =
      std::chrono::ceil<std::chrono::milliseconds>(changes.timeout).count();  // never 0: that is none
  if (timeout_ms > 0) test.info.timeout_ms = timeout_ms;
  test.retries = changes.retries;
  add_labels(test.info.tags, changes.tags);
  add_labels(test.info.locks, changes.locks);
}

bool contains(const std::vector<int>& sizes, int size) {
  return std::find(sizes.begin(), sizes.end(), size) != sizes.end();
}

std::vector<int> sizes_of_run(const Settings& settings) {
  return settings.world_sizes.empty() ? std::vector<int>{settings.world_size} : settings.world_sizes;
}

std::vector<int> sizes_to_list(const Settings& settings) {
  std::vector<int> sizes = sizes_of_run(settings);
  for (const Override& each : settings.overrides) {
    if (each.world_size > 0 && !contains(sizes, each.world_size)) sizes.push_back(each.world_size);
  }
  return sizes;
}

bool depends_on_size(const wire::TestInfo& test) {
  return test.world_rule == wire::WorldRule::Any || test.world_rule == wire::WorldRule::AnyOf;
}

}  // namespace

launch::WorldSpec spec_of(const PlannedTest& test) {
  launch::WorldSpec spec;
  spec.plugin = test.plugin;
  spec.isolation = test.variant.isolation;
  spec.world_size = test.variant.world_size;
  spec.test = test.id;
  spec.env_rendezvous = test.info.env_rendezvous;
  spec.own_gpu = test.info.gpu_per_rank;
  return spec;
}

wire::ListOrder list_order(const Settings& settings) {
  wire::ListOrder order;
  order.world_size = settings.world_size;
  order.backend = settings.backend;
  order.agent = settings.agent;
  order.gpu_driver = settings.gpu_driver;
  order.gpus = settings.gpus;
  order.isolation = name_of(settings.isolation);
  order.why_no_gpu = settings.why_no_gpu;
  return order;
}

io::Task<wire::PluginTable> list_tests(launch::Node& node, const std::string& plugin, const Settings& settings,
                                       Nanoseconds bound) {
  const Overrides overrides(settings.overrides);
  const std::vector<int> sizes = sizes_of_run(settings);
  const std::vector<int> listed = sizes_to_list(settings);
  wire::ListOrder order = list_order(settings);
  const std::vector<launch::Resources> machines = node.machines();
  if (!machines.empty()) order.gpus = gpus_in_all(machines, settings);
  wire::PluginTable all;
  std::vector<std::pair<std::size_t, wire::TestInfo>> tests;  // with their places in the plugin
  for (const int size : listed) {
    order.world_size = size;
    wire::PluginTable table = co_await node.list(plugin, order, bound);
    all.reuse = table.reuse;
    all.uses_backend = table.uses_backend;
    all.uses_agent = table.uses_agent;
    for (std::size_t i = 0; i < table.tests.size(); ++i) {
      wire::TestInfo& test = table.tests[i];
      const int own = depends_on_size(test) ? overrides.changes_of(plugin, test).world_size : listed.front();
      if (own > 0 ? size != own : !contains(sizes, size)) continue;
      test.has_size_in_id = own == 0 && sizes.size() > 1;
      if (test.has_size_in_id && test.world_size == 0) test.world_size = size;  // it is skipped
      tests.emplace_back(i, std::move(test));
    }
  }
  if (sizes.size() == 1) {
    std::stable_sort(tests.begin(), tests.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  }
  for (auto& [place, test] : tests) all.tests.push_back(std::move(test));
  co_return all;
}

std::vector<PlannedTest> plan(const std::string& plugin, wire::PluginTable table, const Filter& filter,
                              const Settings& settings) {
  const Overrides overrides(settings.overrides);
  std::vector<PlannedTest> tests;
  for (wire::TestInfo& listed : table.tests) {
    PlannedTest test;
    test.info = std::move(listed);
    test.id = test.info.id();
    test.plugin = plugin;
    apply(overrides.changes_of(plugin, test.info), test);
    wire::TestInfo& info = test.info;
    if (!filter.selects({info.suite, test.id, plugin, &info.tags, info.world_size})) continue;
    test.variant = variant_of(info, settings);
    const std::string refused = refusal(info, test.variant.isolation, table.reuse);
    if (!refused.empty() && info.skip.empty()) info.skip.push_back({kSkipCode, refused});
    tests.push_back(std::move(test));
  }
  return tests;
}

}  // namespace distrun::runner
