#pragma once
// The graph of gradients: a Node is one formula, its edges lead to those that take its results. Nodes are made while
// operators run and visited backwards by a pass (graph_task.hpp).
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <distrun/runtime/autograd/hooks.hpp>
#include <distrun/runtime/autograd/inline_vector.hpp>
#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::core {
struct CallStack;
}

namespace distrun::autograd {

using tensor::Ref;

class Node;
class NodeHooks;

// To input `input` of `node`; without a node the gradient is not needed.
struct Edge {
  Ref<Node> node;
  std::uint32_t input = 0;
  explicit operator bool() const noexcept { return static_cast<bool>(node); }
  friend bool operator==(const Edge&, const Edge&) = default;
};
using Edges = InlineVector<Edge, 2>;

// What an input's gradient must look like: the forward result that it belongs to.
struct InputMetadata {
  Dims sizes;
  tensor::DType dtype = tensor::DType::F32;
  tensor::Layout layout = tensor::Layout::Strided;
  Device device;
  Stream stream;  // current where the result was made; the node runs on it
};

// Which calls have made a node.
struct ForwardSite {
  std::string name;                        // that was in force (ForwardName); empty: none
  const core::CallStack* calls = nullptr;  // null: not known
};

// Counted (Ref<Node>); identity matters: the same node is the same object. Its graph is built by one thread; after that
// passes on any threads may run it, at the same time too: one that comes to a node after another has let go of what the
// node keeps fails there.
class Node {
 public:
  Node() noexcept;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  virtual ~Node();

  // As people of the field know them: "AddBackward0", "torch::autograd::AccumulateGrad".
  virtual std::string name() const = 0;
  // One gradient per input; a result per edge. Throws what the formula throws.
  virtual Gradients apply(Gradients gradients) = 0;
  // Ours, and quick with little gradients: it runs no code of users, waits for nobody, and may run on a thread that has
  // other things to do.
  virtual bool is_quick() const noexcept { return false; }
  // Lets go of what was kept for the formula, after a pass that does not retain the graph.
  virtual void release_saved() noexcept {}

  const Edges& next_edges() const noexcept { return next_edges_; }
  void add_next_edge(Edge edge) { next_edges_.push_back(std::move(edge)); }
  // Whether anybody takes result `i`.
  bool needs(std::size_t i) const noexcept { return i < next_edges_.size() && next_edges_[i]; }

  // Number of the input that stands for a tensor like that, made on its device's current stream.
  std::uint32_t add_input(const Tensor& like);
  const InlineVector<InputMetadata, 1>& inputs() const noexcept { return inputs_; }
  // The stream of a GPU that the node runs on: that of its first input.
  bool is_on_gpu() const noexcept { return !inputs_.empty() && !inputs_[0].device.is_cpu(); }
  Stream stream() const noexcept { return inputs_[0].stream; }

  // Counts the nodes of the thread that made it: of two that are ready the later one runs first. Nodes that accumulate
  // have the largest number, so that what they free is freed early.
  std::uint64_t sequence() const noexcept { return sequence_; }
  // Number of that thread; with sequence() it names the forward call.
  std::uint32_t thread() const noexcept { return thread_; }
  // What the next node of this thread will have.
  static std::uint64_t next_sequence() noexcept;

  // Any thread, not during a pass over the node. Tensor hooks run before pre-hooks, all in order of their addition.
  HookId add_tensor_hook(std::uint32_t input, TensorHook hook);
  HookId add_pre_hook(PreHook hook);
  HookId add_post_hook(PostHook hook);
  void remove_hook(HookId hook) noexcept;
  const NodeHooks* hooks() const noexcept { return hooks_.load(std::memory_order_acquire); }

  // Where the forward call was made: null but of nodes that were made in anomaly mode (anomaly.hpp).
  const ForwardSite* forward_site() const noexcept { return forward_site_.get(); }
  void set_forward_site(ForwardSite site);

  // Held for a moment by whoever looks at what the node keeps, or lets go of it: passes on several threads may meet
  // there, and one that does not retain the graph lets go of what another is about to use. That one is told so
  // (throw_released), and nothing worse.
  class KeptLock {
   public:
    explicit KeptLock(const Node& node) noexcept : flag_(node.is_kept_locked_) {
      while (flag_.test_and_set(std::memory_order_acquire)) wait();
    }
    ~KeptLock() { flag_.clear(std::memory_order_release); }
    KeptLock(const KeptLock&) = delete;
    KeptLock& operator=(const KeptLock&) = delete;

   private:
    static void wait() noexcept;
    std::atomic_flag& flag_;
  };

  // True for AccumulateGrad alone.
  bool is_leaf() const noexcept { return is_leaf_; }

  // For Ref.
  void retain() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  void retain_first() const noexcept { count_.store(1, std::memory_order_relaxed); }
  void release() const noexcept {
    // Nobody else can count up what one handle is left of; but a leaf's node is reached through its tensor, too.
    const bool is_last = !is_leaf_ && count_.load(std::memory_order_acquire) == 1;
    if (is_last || count_.fetch_sub(1, std::memory_order_acq_rel) == 1) const_cast<Node*>(this)->let_go();
  }

 protected:
  struct Leaf {};
  explicit Node(Leaf) noexcept;
  // Its last handle is gone.
  virtual void let_go() noexcept;
  // Counts a handle by hand; what the count was before.
  std::uint32_t count_up() const noexcept { return count_.fetch_add(1, std::memory_order_acq_rel); }
  void count_down() const noexcept { count_.fetch_sub(1, std::memory_order_acq_rel); }

 private:
  NodeHooks& make_hooks();

  mutable std::atomic<std::uint32_t> count_{0};
  mutable std::atomic_flag is_kept_locked_;
  const bool is_leaf_;
  const std::uint32_t thread_;
  const std::uint64_t sequence_;
  Edges next_edges_;
  InlineVector<InputMetadata, 1> inputs_;
  std::atomic<NodeHooks*> hooks_{nullptr};  // made by the first
  std::unique_ptr<const ForwardSite> forward_site_;
  Node* next_released_ = nullptr;  // of the list of let_go()
};

}  // namespace distrun::autograd
