#include <distrun/runtime/profiler/averages.hpp>

#include <map>
#include <tuple>

namespace distrun::profiler {
namespace {

void add(Average& sum, const Event& event) {
  ++sum.count;
  sum.is_async = sum.is_async || event.is_async;
  sum.cpu_time += event.duration();
  if (!event.is_async) sum.self_cpu_time += event.self_time;
  sum.device_time += event.device_time;
  sum.self_device_time += event.self_device_time;
  sum.cpu_memory += event.cpu_memory;
  sum.self_cpu_memory += event.self_cpu_memory;
  sum.device_memory += event.device_memory;
  sum.self_device_memory += event.self_device_memory;
}

}  // namespace

Averages key_averages(const Events& events, GroupBy group) {
  using Shapes = std::vector<std::vector<std::int64_t>>;
  std::map<std::tuple<std::string, std::int32_t, bool, Shapes>, std::size_t> places;
  Averages averages;
  for (const Event& each : events) {
    const Shapes shapes = group.input_shapes ? each.input_shapes : Shapes();
    const auto [place, is_new] = places.try_emplace({each.name, each.node, each.is_remote, shapes}, averages.size());
    if (is_new) {
      averages.emplace_back();
      averages.back().name = each.name;
      averages.back().input_shapes = shapes;
      averages.back().node = each.node;
      averages.back().is_remote = each.is_remote;
    }
    add(averages[place->second], each);
  }
  return averages;
}

}  // namespace distrun::profiler
