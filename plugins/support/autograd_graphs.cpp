#include "autograd_graphs.hpp"

#include <distrun/runtime/rpc/graph/builder.hpp>

namespace distrun::suites {
namespace {

Graph build_add() {
  rpc::GraphBuilder graph("my_script_add");
  const auto t1 = graph.parameter("t1");
  const auto t2 = graph.parameter("t2");
  return graph.returns(graph.op("add", t1, t2));
}

Graph build_ones() {
  rpc::GraphBuilder graph("script_ones");
  return graph.returns(graph.op("ones", std::vector<std::int64_t>{3, 3}));
}

}  // namespace

Graph my_script_add() {
  static const Graph graph = build_add();
  return graph;
}
Graph script_ones() {
  static const Graph graph = build_ones();
  return graph;
}

}  // namespace distrun::suites
