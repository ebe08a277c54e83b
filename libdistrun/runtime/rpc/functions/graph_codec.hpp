#pragma once
// Graph functions as bytes, beside which the tensors among their constants travel (GraphFunction::encoded()), and the
// cache of those that were read, so that a function travels to a worker once.
#include <list>
#include <map>
#include <mutex>

#include <distrun/runtime/rpc/functions/graph.hpp>

namespace distrun::rpc {

// From whoever sent it. What it makes can be interpreted, whatever the bytes. Throws Error{InvalidArgument} for what is
// no graph function, with the type AttributeError for an operator that is not there; Error{Unimplemented} for one of
// another version; Error{Overloaded} beyond the limits.
std::shared_ptr<const GraphFunction> decode_graph(wire::BytesView bytes, const TensorList& tensors);

// The functions that a worker was sent, by their hash. Any thread.
class GraphCache {
 public:
  // Of at most `capacity` functions: that which was not asked for longest goes.
  explicit GraphCache(std::size_t capacity = 256) : capacity_(capacity) {}

  // Null: it is not there, or not any more.
  std::shared_ptr<const GraphFunction> find(const GraphHash& hash);
  // Under its own hash, whatever its sender called it. Throws as GraphFunction::encoded().
  void add(std::shared_ptr<const GraphFunction> function);
  std::size_t size() const;

 private:
  using Functions = std::list<std::shared_ptr<const GraphFunction>>;

  const std::size_t capacity_;
  mutable std::mutex mutex_;
  Functions functions_;  // the last that was asked for first
  std::map<GraphHash, Functions::iterator> places_;
};

}  // namespace distrun::rpc
