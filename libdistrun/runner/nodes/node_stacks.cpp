#include <distrun/runner/nodes/node_stacks.hpp>

#include <map>

namespace distrun::nodes {
namespace {

// Waits for the answers of all nodes. Shared by the callbacks that wait; ends with the last.
class GatheredStacks {
 public:
  GatheredStacks(std::weak_ptr<SpreadRanks> ranks, launch::OnStacks on_stacks)
      : ranks_(std::move(ranks)), on_stacks_(std::move(on_stacks)) {}
  ~GatheredStacks() {
    if (!ranks_.expired()) on_stacks_(std::move(all_));
  }
  GatheredStacks(const GatheredStacks&) = delete;
  GatheredStacks& operator=(const GatheredStacks&) = delete;

  // Returns a callback for the answer of a node to a request for its ranks' stacks.
  static RemoteNode::OnStacks of_node(std::shared_ptr<GatheredStacks> all, int node) {
    return [all = std::move(all), node](Collected collected) { all->take(node, std::move(collected)); };
  }
  // The same to a request for names. `positions` are those of its stacks among the stacks of all nodes.
  static RemoteNode::OnStacks of_node(std::shared_ptr<GatheredStacks> all, int node, std::vector<int> positions) {
    return [all = std::move(all), node, positions = std::move(positions)](Collected collected) {
      all->take_named(node, std::move(collected.stacks), positions);
    };
  }

 private:
  void take(int node, Collected collected) {
    const auto ranks = ranks_.lock();
    if (!ranks) return;
    append(all_, checked(std::move(collected.stacks), node));
    if (!collected.state.ranks.empty()) ranks->take_state(node, std::move(collected.state));
  }
  void take_named(int node, evidence::Stacks stacks, const std::vector<int>& positions) {
    std::erase_if(stacks.processes, [&](const evidence::Process& process) {
      return process.index < 0 || static_cast<std::size_t>(process.index) >= positions.size();
    });
    const std::size_t before = all_.processes.size();
    std::vector<int> indices;
    stacks = checked(std::move(stacks), node);
    for (const evidence::Process& process : stacks.processes) {
      indices.push_back(positions[static_cast<std::size_t>(process.index)]);
    }
    append(all_, std::move(stacks));
    for (std::size_t i = 0; i < indices.size(); ++i) all_.processes[before + i].index = indices[i];
  }

  std::weak_ptr<SpreadRanks> ranks_;
  launch::OnStacks on_stacks_;
  evidence::Stacks all_;
};

// The callback must not be called before the function that takes it returns.
void release_later(io::Loop& loop, std::shared_ptr<GatheredStacks> all) {
  loop.post([all = std::move(all)] {});
}

}  // namespace

void collect_stacks(io::Loop& loop, const std::shared_ptr<SpreadRanks>& ranks, std::uint32_t number,
                    const launch::StackOrder& order, launch::OnStacks on_stacks) {
  auto all = std::make_shared<GatheredStacks>(ranks, std::move(on_stacks));
  for (const SpreadRanks::Part& part : ranks->parts()) {
    RemoteNode::OnStacks on_answer = GatheredStacks::of_node(all, part.node->number());
    part.node->collect(number, order, std::move(on_answer));
  }
  release_later(loop, std::move(all));
}

void name_stacks(io::Loop& loop, const std::shared_ptr<SpreadRanks>& ranks, std::uint32_t number, const char* source,
                 std::vector<std::pair<int, wire::RawStacks>> by_rank, base::Nanoseconds bound,
                 launch::OnStacks on_stacks) {
  auto all = std::make_shared<GatheredStacks>(ranks, std::move(on_stacks));
  struct OfNode {
    NameRequest request;
    std::vector<int> positions;
  };
  std::map<RemoteNode*, OfNode> by_node;
  for (std::size_t i = 0; i < by_rank.size(); ++i) {
    OfNode& its = by_node[ranks->part_of(by_rank[i].first).node];
    its.request.stacks.push_back({by_rank[i].first, std::move(by_rank[i].second)});
    its.positions.push_back(static_cast<int>(i));
  }
  for (auto& [node, its] : by_node) {
    its.request.world = number;
    its.request.source = source;
    its.request.bound_ns = bound.count();
    node->name_stacks(std::move(its.request), GatheredStacks::of_node(all, node->number(), std::move(its.positions)));
  }
  release_later(loop, std::move(all));
}

}  // namespace distrun::nodes
