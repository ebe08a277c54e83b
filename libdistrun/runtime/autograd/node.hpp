#pragma once
// The graph of gradients: a Node is one formula, its edges lead to the nodes that take its results. Operators create
// nodes while they run; a pass (graph_task.hpp) visits them backwards.
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

// Leads to input `input` of `node`; without a node the gradient is not needed.
struct Edge {
  Ref<Node> node;                                                              // null: none
  std::uint32_t input = 0;                                                     // of the node
  explicit operator bool() const noexcept { return static_cast<bool>(node); }  // has a node
  friend bool operator==(const Edge&, const Edge&) = default;
};
using Edges = InlineVector<Edge, 2>;  // of a node, one for each of its results

// Describes an input's gradient by the forward result that it belongs to.
struct InputMetadata {
  Dims sizes;                                       // of the gradient
  tensor::DType dtype = tensor::DType::F32;         // of the gradient
  tensor::Layout layout = tensor::Layout::Strided;  // of the gradient
  Device device;                                    // of the gradient
  Stream stream;                                    // current where the result was created; the node runs on it
};

// The calls that created a node.
struct ForwardSite {
  std::string name;                        // the ForwardName in force; empty: none
  const core::CallStack* calls = nullptr;  // null: unknown
};

// Reference-counted (Ref<Node>), compared by identity. One thread builds the graph; after that passes on several
// threads may run it concurrently. A pass fails at a node if another pass has released the node's saved tensors.
class Node {
 public:
  Node() noexcept;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  virtual ~Node();

  // Returns the customary name: "AddBackward0", "torch::autograd::AccumulateGrad".
  virtual std::string name() const = 0;
  // Takes one gradient per input and returns a result per edge. Throws what the formula throws.
  virtual Gradients apply(Gradients gradients) = 0;
  // Returns true for a node of distrun that is quick with small gradients: it runs no user code, never waits, and may
  // run on a thread that has other duties.
  virtual bool is_quick() const noexcept { return false; }
  // Releases the tensors saved for the formula, after a pass that does not retain the graph.
  virtual void release_saved() noexcept {}

  const Edges& next_edges() const noexcept { return next_edges_; }  // one for each result
  // Adds the edge of the next result, while the graph is built.
  void add_next_edge(Edge edge) { next_edges_.push_back(std::move(edge)); }
  // Returns whether result `i` is needed.
  bool needs(std::size_t i) const noexcept { return i < next_edges_.size() && next_edges_[i]; }

  // Adds an input for the gradient of a tensor like `like`, made on its device's current stream; returns its number.
  std::uint32_t add_input(const Tensor& like);
  const InlineVector<InputMetadata, 1>& inputs() const noexcept { return inputs_; }  // in order of add_input()
  // Returns whether the node runs on a stream of a GPU, that of its first input.
  bool is_on_gpu() const noexcept { return !inputs_.empty() && !inputs_[0].device.is_cpu(); }
  // Returns the stream of the first input; requires one.
  Stream stream() const noexcept { return inputs_[0].stream; }

  // Counts the nodes of the creating thread: of two ready nodes the later one runs first. AccumulateGrad has the
  // largest number, so that memory is freed early.
  std::uint64_t sequence() const noexcept { return sequence_; }
  // Number of the creating thread; with sequence() it identifies the forward call.
  std::uint32_t thread() const noexcept { return thread_; }
  // The sequence number of the next node of this thread.
  static std::uint64_t next_sequence() noexcept;

  // These are thread-safe, but not during a pass over the node. Tensor hooks run before pre-hooks, all in order of
  // their addition.
  HookId add_tensor_hook(std::uint32_t input, TensorHook hook);  // Calls the hook with the gradient of an input.
  HookId add_pre_hook(PreHook hook);                             // before the node, with all gradients
  HookId add_post_hook(PostHook hook);                           // after the node
  void remove_hook(HookId hook) noexcept;                        // ignores an unknown one
  const NodeHooks* hooks() const noexcept { return hooks_.load(std::memory_order_acquire); }  // null: none was added

  // Where the forward call was made: null unless the node was created in anomaly mode (anomaly.hpp).
  const ForwardSite* forward_site() const noexcept { return forward_site_.get(); }
  // Call before the node is visible to other threads.
  void set_forward_site(ForwardSite site);

  // Held briefly to read or release the saved tensors: passes on several threads may meet there, and one that does not
  // retain the graph may release tensors that another is about to use. The other then gets an error (throw_released),
  // and nothing worse happens.
  class KeptLock {
   public:
    // Waits until no other thread holds the lock of this node.
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

  // True only for AccumulateGrad.
  bool is_leaf() const noexcept { return is_leaf_; }

  // These count handles, for Ref.
  void retain() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  void retain_first() const noexcept { count_.store(1, std::memory_order_relaxed); }
  void release() const noexcept {
    // If one handle is left, no other thread can increase the count; except for a leaf's node, which can be reached
    // through its tensor.
    const bool is_last = !is_leaf_ && count_.load(std::memory_order_acquire) == 1;
    if (is_last || count_.fetch_sub(1, std::memory_order_acq_rel) == 1) const_cast<Node*>(this)->let_go();
  }

 protected:
  struct Leaf {};
  // Creates a node that is_leaf().
  explicit Node(Leaf) noexcept;
  // Called when the last handle is released.
  virtual void let_go() noexcept;
  // These count a handle by hand; count_up() returns the previous count.
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
  std::atomic<NodeHooks*> hooks_{nullptr};  // created by the first add
  std::unique_ptr<const ForwardSite> forward_site_;
  Node* next_released_ = nullptr;  // next in the list of let_go()
};

}  // namespace distrun::autograd
