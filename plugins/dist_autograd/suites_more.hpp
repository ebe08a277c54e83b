#pragma once
// Suites for devices other than the CPU, and for a faulty agent.
#include "scenarios.hpp"
#include "suites.hpp"

class CudaDistAutogradTest : public distrun::suites::AutogradAgentTest {};

// The agent loses messages: at first every message that may be sent again.
class FaultyAgentDistAutogradTest : public distrun::Fixture {
 public:
  void set_up(distrun::Rank& rank) override {
    distrun::suites::renew_autograd_state();
    distrun::suites::renew_state();
    rank.barrier("all have begun");
    distrun::suites::start_rpc(rank, kUse);
  }
  void tear_down(distrun::Rank& rank) override {
    if (distrun::rpc::is_initialized() && !rank.tally().failed()) distrun::rpc::shutdown();
  }

 protected:
  inline static const distrun::suites::RpcUse kUse{.is_faulty = true};
};
