#pragma once
// The encoding of graph functions as bytes plus the tensors among their constants (GraphFunction::encoded()), and the
// cache of received functions, so that a function is sent to a worker only once.
#include <list>
#include <map>
#include <mutex>

#include <distrun/runtime/rpc/graph/graph.hpp>

namespace distrun::rpc {

// Decodes a function from an untrusted sender; the result is safe to interpret. Throws Error{InvalidArgument} for
// malformed bytes (with the type AttributeError for an unknown operator), Error{Unimplemented} for another version,
// Error{Overloaded} beyond the limits.
std::shared_ptr<const GraphFunction> decode_graph(wire::BytesView bytes, const TensorList& tensors);

// The functions that a worker has received, by their hash. Thread-safe.
class GraphCache {
 public:
  // Holds at most `capacity` functions; evicts the least recently used one.
  explicit GraphCache(std::size_t capacity = 256) : capacity_(capacity) {}

  // Returns null for a function that was not added, or that was evicted.
  std::shared_ptr<const GraphFunction> find(const GraphHash& hash);
  // Adds the function under the hash computed here, not under the sender's. Throws as GraphFunction::encoded().
  void add(std::shared_ptr<const GraphFunction> function);
  std::size_t size() const;

 private:
  using Functions = std::list<std::shared_ptr<const GraphFunction>>;

  const std::size_t capacity_;
  mutable std::mutex mutex_;
  Functions functions_;  // the most recently used first
  std::map<GraphHash, Functions::iterator> places_;
};

}  // namespace distrun::rpc
