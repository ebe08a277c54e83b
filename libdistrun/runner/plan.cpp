#include <distrun/runner/plan.hpp>

#include <utility>

namespace distrun::runner {
namespace {

Variant variant_of(const wire::TestInfo& info, const Settings& settings) {
  Variant variant;
  variant.world_size = info.world_size;
  variant.backend = settings.backend;
  variant.agent = settings.agent;
  variant.gpu_driver = settings.gpu_driver;
  variant.isolation = settings.isolation;
  if (!info.isolation.empty() && info.isolation != settings.isolation) {
    variant.isolation = info.isolation;
    variant.isolation_reason = "the test asks for " + info.isolation;
  }
  return variant;
}

}  // namespace

wire::ListOrder list_order(const Settings& settings) {
  wire::ListOrder order;
  order.world_size = settings.world_size;
  order.backend = settings.backend;
  order.agent = settings.agent;
  order.gpu_driver = settings.gpu_driver;
  order.gpus = settings.gpus;
  order.isolation = settings.isolation;
  return order;
}

std::vector<PlannedTest> plan(const std::string& plugin, wire::PluginTable table, const Filter& filter,
                              const Settings& settings) {
  std::vector<PlannedTest> tests;
  for (wire::TestInfo& info : table.tests) {
    PlannedTest test;
    test.id = info.id();
    if (!filter.selects(info.suite, test.id)) continue;
    test.variant = variant_of(info, settings);
    test.plugin = plugin;
    test.info = std::move(info);
    tests.push_back(std::move(test));
  }
  return tests;
}

}  // namespace distrun::runner
