#pragma once
// The graph of gradients: a Node is one formula, its edges lead to those that take its results. Nodes are made while
// operators run and visited backwards by the engine (engine.hpp).
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include <distrun/device/stream.hpp>
#include <distrun/tensor/tensor.hpp>

namespace distrun::autograd {

using tensor::Ref;

class Node;

// To input `input` of `node`; without a node the gradient is not needed.
struct Edge {
  Ref<Node> node;
  std::uint32_t input = 0;
  explicit operator bool() const noexcept { return static_cast<bool>(node); }
};

// What an input's gradient must look like: the forward result that it belongs to.
struct InputMetadata {
  Dims sizes;
  tensor::DType dtype = tensor::DType::F32;
  tensor::Layout layout = tensor::Layout::Strided;
  Device device;
  Stream stream;  // current where the result was made; the node runs on it
};

// Called before a node with its gradients, or after it with its results and what it got. What it returns replaces them.
using PreHook = std::function<TensorList(TensorList)>;
using PostHook = std::function<TensorList(TensorList results, const TensorList& gradients)>;

// Counted; identity matters: the same node is the same object. Its graph is built by one thread; after that the engine
// may run it on any, one at a time for nodes that are not thread-safe (all but AccumulateGrad keep no state of a pass).
class Node : public tensor::Counted {
 public:
  Node();
  ~Node() override;

  // As people of the field know them: "AddBackward0", "torch::autograd::AccumulateGrad".
  virtual std::string name() const = 0;
  // One gradient per input, undefined ones stand for zeros; a result per edge. Throws what the formula throws.
  virtual TensorList apply(TensorList gradients) = 0;
  // Lets go of what was kept for the formula, after a pass that does not retain the graph.
  virtual void release_saved() {}

  const std::vector<Edge>& next_edges() const noexcept { return next_edges_; }
  void add_next_edge(Edge edge) { next_edges_.push_back(std::move(edge)); }
  // Number of the input that stands for a tensor of that kind.
  std::uint32_t add_input(const Tensor& like);
  const std::vector<InputMetadata>& inputs() const noexcept { return inputs_; }

  // Counts nodes of the thread that made it; later ones run first. Accumulating nodes have the largest.
  std::uint64_t sequence() const noexcept { return sequence_; }
  std::uint64_t thread() const noexcept { return thread_; }
  std::uint64_t depth() const noexcept { return depth_; }

  // Returned numbers remove them again. Any thread.
  int add_pre_hook(PreHook hook);
  int add_post_hook(PostHook hook);
  void remove_hook(int number);

 protected:
  // Iteratively: a chain of a million nodes must not become a million frames.
  void let_go() noexcept override;

 private:
  std::vector<Edge> next_edges_;
  std::vector<InputMetadata> inputs_;
  std::uint64_t sequence_ = 0;
  std::uint64_t thread_ = 0;
  std::uint64_t depth_ = 0;
};

}  // namespace distrun::autograd
