#pragma once
// Shared by the tests of distributed autograd.
#include <distrun/dist_autograd.hpp>

#include "support/autograd_callees.hpp"
#include "support/rpc_suites.hpp"

namespace distrun::suites {

// RPC around a test, with no contexts known when the test begins.
class AutogradAgentTest : public RpcAgentTest {
 public:
  void set_up(Rank& rank) override {
    renew_autograd_state();
    RpcAgentTest::set_up(rank);
  }
};

inline Tensor leaf(const Dims& sizes = {3, 3}) { return set_requires_grad(rand(sizes)); }

// True if a pass compiles with those arguments.
template <class... Passed>
concept BeginsPass = requires(Passed... passed) {
  dist_autograd::backward(passed...);
};

}  // namespace distrun::suites

class DistAutogradTest : public distrun::suites::AutogradAgentTest {};
class TensorPipeAgentDistAutogradTest : public distrun::suites::AutogradAgentTest {};
