#pragma once
// Shared by the suites of RPC and of references. The fixture keeps RPC up on all ranks, worker0 to worker3, around the
// body of most tests; the others start RPC themselves, without a fixture.
#include <optional>
#include <string>

#include <distrun/collectives.hpp>
#include <distrun/rpc.hpp>
#include <distrun/tensors.hpp>
#include <distrun/test.hpp>

#include "support/rpc_callees.hpp"
#include "support/rpc_classes.hpp"
#include "support/rpc_fixture.hpp"
#include "support/rpc_graphs.hpp"
#include "support/rpc_state.hpp"
#include "support/rpc_waits.hpp"
#include "support/thrown.hpp"

class RpcTest : public distrun::suites::RpcAgentTest {};
class TensorPipeAgentRpcTest : public distrun::suites::RpcAgentTest {};

namespace distrun::suites {

// Compares sizes, dtype and elements with the field's usual tolerances; empty: they agree.
inline std::string what_differs(const Tensor& actual, const Tensor& expected) {
  return tensor::difference(actual, expected).value_or("");
}

// Derives sizes from the rank, so that each rank has others.
inline std::int64_t n_of(const Rank& rank) { return rank.rank() + 1; }
inline Tensor square(std::int64_t n, double value = 1) { return full({n, n}, value); }

}  // namespace distrun::suites
