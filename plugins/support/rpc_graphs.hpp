#pragma once
// Graph functions of ported tests, sent with the call, so without registration. Each call returns the same one.
#include <memory>

#include <distrun/runtime/rpc/graph/graph.hpp>

namespace distrun::suites {

using Graph = std::shared_ptr<const rpc::GraphFunction>;

Graph heavy_rpc_torchscript();  // heavy_rpc(tensor), as a graph
Graph raise_func_script();      // raises the given text
Graph my_script_func();         // tensor + tensor

}  // namespace distrun::suites
