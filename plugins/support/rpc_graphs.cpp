#include "rpc_graphs.hpp"

#include <distrun/runtime/rpc/graph/builder.hpp>

namespace distrun::suites {
namespace {

Graph build_heavy() {
  rpc::GraphBuilder graph("heavy_rpc_torchscript");
  const auto tensor = graph.parameter("tensor");
  graph.for_each(1, 100, [&](rpc::GraphValue i) {
    graph.op("mul_", tensor, i);
    graph.op("div_", tensor, i + 1);
  });
  return graph.returns(0);
}

Graph build_raise() {
  rpc::GraphBuilder graph("raise_func_script");
  graph.raise(graph.parameter("expected_err"));
  return graph.returns();
}

Graph build_sum() {
  rpc::GraphBuilder graph("my_script_func");
  const auto tensor = graph.parameter("tensor");
  return graph.returns(graph.op("add", tensor, tensor));
}

}  // namespace

Graph heavy_rpc_torchscript() {
  static const Graph graph = build_heavy();
  return graph;
}
Graph raise_func_script() {
  static const Graph graph = build_raise();
  return graph;
}
Graph my_script_func() {
  static const Graph graph = build_sum();
  return graph;
}

}  // namespace distrun::suites
