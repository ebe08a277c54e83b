#include <distrun/runner/plan/plan.hpp>

#include <utility>

namespace distrun::runner {
namespace {

constexpr std::int32_t kSkipCode = 86;  // the generic code of the skip table

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
  if (info.gpu_per_rank) return "it needs a separate device for each rank, and ranks that are threads share devices";
  if (info.env_rendezvous)
    return "it needs separate environment variables for each rank, and ranks that are threads share them";
  if (!info.may_die.empty()) return "it ends a rank on purpose, and ranks that are threads die together";
  return "";
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
  wire::ListOrder order = list_order(settings);
  if (settings.world_sizes.empty()) co_return co_await node.list(plugin, order, bound);
  wire::PluginTable all;
  for (const int size : settings.world_sizes) {
    order.world_size = size;
    wire::PluginTable table = co_await node.list(plugin, order, bound);
    all.reuse = table.reuse;
    for (wire::TestInfo& test : table.tests) {
      const bool depends = depends_on_size(test);
      if (!depends && size != settings.world_sizes.front()) continue;
      test.has_size_in_id = depends;
      if (test.world_size == 0) test.world_size = size;  // it is skipped
      all.tests.push_back(std::move(test));
    }
  }
  co_return all;
}

std::vector<PlannedTest> plan(const std::string& plugin, wire::PluginTable table, const Filter& filter,
                              const Settings& settings) {
  std::vector<PlannedTest> tests;
  for (wire::TestInfo& info : table.tests) {
    PlannedTest test;
    test.id = info.id();
    if (!filter.selects({info.suite, test.id, plugin, &info.tags, info.world_size})) continue;
    test.variant = variant_of(info, settings);
    test.plugin = plugin;
    const std::string refused = refusal(info, test.variant.isolation, table.reuse);
    if (!refused.empty() && info.skip.empty()) info.skip.push_back({kSkipCode, refused});
    test.info = std::move(info);
    tests.push_back(std::move(test));
  }
  return tests;
}

}  // namespace distrun::runner
