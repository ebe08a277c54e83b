#pragma once
// What the tests of distributed autograd have in common.
#include <distrun/dist_autograd.hpp>

#include "support/autograd_callees.hpp"
#include "support/rpc_suites.hpp"

namespace distrun::suites {

// RPC around a test, in which nobody knows of a context when it begins.
class AutogradAgentTest : public RpcAgentTest {
 public:
  void set_up(Rank& rank) override {
    renew_autograd_state();
    RpcAgentTest::set_up(rank);
  }
};

}  // namespace distrun::suites

class DistAutogradTest : public distrun::suites::AutogradAgentTest {};
class TensorPipeAgentDistAutogradTest : public distrun::suites::AutogradAgentTest {};
