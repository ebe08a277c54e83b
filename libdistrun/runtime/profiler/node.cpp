#include <distrun/runtime/profiler/node.hpp>

#include <map>
#include <mutex>

#include <distrun/runtime/core/rank_state.hpp>

namespace distrun::profiler {
namespace {

struct Nodes {
  std::mutex mutex;
  std::map<const core::RankState*, std::int32_t> all;  // guarded by mutex
};
Nodes& nodes() {
  static auto* const only = new Nodes;
  return *only;
}

}  // namespace

void set_node(const core::RankState& rank, std::int32_t node) {
  Nodes& known = nodes();
  const std::lock_guard lock(known.mutex);
  if (node < 0) {
    known.all.erase(&rank);
  } else {
    known.all[&rank] = node;
  }
}

std::int32_t node_of_rank() noexcept {
  Nodes& known = nodes();
  const std::lock_guard lock(known.mutex);
  const auto found = known.all.find(&core::rank_state());
  return found == known.all.end() ? -1 : found->second;
}

}  // namespace distrun::profiler
