#include <distrun/runtime/dist_autograd/quick_graph.hpp>

#include <functional>
#include <numeric>
#include <unordered_set>

namespace distrun::dist_autograd {
namespace {

// In elements of gradients, which take a nanosecond or two each.
constexpr std::int64_t kMost = 1 << 16;
constexpr std::int64_t kOfNode = 128;

std::int64_t elements_of(const autograd::Node& node) {
  std::int64_t elements = 0;
  for (const autograd::InputMetadata& each : node.inputs()) {
    elements += std::accumulate(each.sizes.begin(), each.sizes.end(), std::int64_t{1}, std::multiplies<>());
  }
  return elements;
}

}  // namespace

bool is_quick_graph(const std::vector<autograd::Ref<autograd::Node>>& starts) {
  std::vector<const autograd::Node*> pending;
  for (const auto& start : starts) pending.push_back(start.get());
  std::unordered_set<const autograd::Node*> seen;
  std::int64_t left = kMost;
  while (!pending.empty()) {
    const autograd::Node& node = *pending.back();
    pending.pop_back();
    if (!seen.insert(&node).second) continue;
    if (!node.is_quick() || node.hooks() != nullptr || node.is_on_gpu()) return false;
    left -= kOfNode + elements_of(node);
    if (left < 0) return false;
    for (const autograd::Edge& edge : node.next_edges()) {
      if (edge) pending.push_back(edge.node.get());
    }
  }
  return true;
}

}  // namespace distrun::dist_autograd
