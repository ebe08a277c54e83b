#pragma once
// What the suites of RPC and of references have in common. Of most tests RPC is up on all ranks, worker0 to worker3,
// around the body; the others, which bring it up themselves, have no fixture.
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

// Sizes, dtype and elements as people of the field compare them; empty: they agree.
inline std::string what_differs(const Tensor& actual, const Tensor& expected) {
  return tensor::difference(actual, expected).value_or("");
}

// What tests make sizes of, so that each rank has another.
inline std::int64_t n_of(const Rank& rank) { return rank.rank() + 1; }
inline Tensor square(std::int64_t n, double value = 1) { return full({n, n}, value); }

}  // namespace distrun::suites
