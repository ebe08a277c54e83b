#include <distrun/runtime/profiler/tree.hpp>

#include <algorithm>
#include <map>
#include <tuple>

namespace distrun::profiler {
namespace {

// Events of one lane may be nested.
using Lane = std::tuple<std::int32_t, std::int32_t, bool>;

void begin_own(Event& event) {
  event.parent = Event::kNone;
  event.children.clear();
  event.self_time = event.duration();
  event.self_device_time = event.device_time;
  event.self_cpu_memory = event.cpu_memory;
  event.self_device_memory = event.device_memory;
}

void put_within(Events& events, std::size_t child, std::size_t parent) {
  const Event& inner = events[child];
  Event& outer = events[parent];
  outer.children.push_back(child);
  outer.self_time -= inner.duration();
  // Not every event around an operator includes its device time.
  outer.self_device_time = std::max(outer.self_device_time - inner.device_time, base::Nanoseconds(0));
  outer.self_cpu_memory -= inner.cpu_memory;
  outer.self_device_memory -= inner.device_memory;
  events[child].parent = parent;
}

}  // namespace

void build_tree(Events& events) {
  for (Event& each : events) begin_own(each);
  std::map<Lane, std::vector<std::size_t>> open;  // each within the one before it
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    if (event.is_async) continue;
    std::vector<std::size_t>& around = open[{event.node, event.thread, event.is_remote}];
    while (!around.empty() && event.end > events[around.back()].end) around.pop_back();
    if (!around.empty()) put_within(events, i, around.back());
    around.push_back(i);
  }
}

}  // namespace distrun::profiler
