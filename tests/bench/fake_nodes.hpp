#pragma once
// Hosts that exist only in this process: the coordinator's side of each is the real one, and its node answers at once,
// as if its ranks ran a test that does nothing, or hangs. So worlds can be measured that no machine here could run. The
// CPU time of the answers is counted, so that it can be subtracted. What is missing is the transport: fake_links.hpp.
#include <memory>
#include <vector>

#include <distrun/common/io/loop.hpp>
#include <distrun/runner/nodes/node_set.hpp>

namespace distrun::bench {

// Returns the CPU time that this thread has used so far.
base::Nanoseconds thread_cpu_time();

class FakeNodes {
 public:
  enum class Ranks : std::uint8_t { Pass, Hang };

  // `loop` must outlive this.
  FakeNodes(io::Loop& loop, int nodes, int ranks_each, Ranks ranks);
  ~FakeNodes();

  nodes::NodeSet& set() noexcept { return *set_; }
  int world_size() const noexcept { return world_size_; }
  // All nodes tell the state of all ranks, in which the CPU times have changed.
  void tell_states();

  struct Traffic {
    std::uint64_t frames_to_nodes = 0;
    std::uint64_t bytes_to_nodes = 0;
    std::uint64_t frames_from_nodes = 0;
    std::uint64_t bytes_from_nodes = 0;
  };
  Traffic traffic() const noexcept { return traffic_; }
  // The CPU time of the fake nodes.
  base::Nanoseconds nodes_cpu() const noexcept { return nodes_cpu_; }
  // Returns how many ranks have their order.
  int begun() const noexcept { return begun_; }
  // The CPU time of this thread without that of the nodes, when the first node was asked for stacks.
  base::Nanoseconds cpu_when_asked() const noexcept { return cpu_when_asked_; }

 private:
  class Node;

  void schedule(Node& node);
  void turn(Node& node);

  io::Loop& loop_;
  const Ranks kind_;
  const int world_size_;
  Traffic traffic_;
  base::Nanoseconds nodes_cpu_{};
  int begun_ = 0;
  base::Nanoseconds cpu_when_asked_{};
  std::vector<std::unique_ptr<Node>> nodes_;
  std::unique_ptr<nodes::NodeSet> set_;
};

}  // namespace distrun::bench
