#pragma once
// Graph functions of ported tests: they travel with the call, so nobody registers them. The same each time.
#include <memory>

#include <distrun/runtime/rpc/functions/graph.hpp>

namespace distrun::suites {

using Graph = std::shared_ptr<const rpc::GraphFunction>;

Graph heavy_rpc_torchscript();  // heavy_rpc(tensor), as a graph
Graph raise_func_script();      // raises the text that it gets
Graph my_script_func();         // tensor + tensor

}  // namespace distrun::suites
