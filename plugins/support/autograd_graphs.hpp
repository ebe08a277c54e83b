#pragma once
// Graph functions of ported tests of distributed autograd, sent with the call. Each call returns the same one.
#include "rpc_graphs.hpp"

namespace distrun::suites {

Graph my_script_add();  // t1 + t2
Graph script_ones();    // ones(3, 3)

}  // namespace distrun::suites
