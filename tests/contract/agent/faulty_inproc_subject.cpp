// The faulty agent before inproc, without a plan.
#include <agents/faulty/faulty_agent.hpp>
#include <agents/inproc/inproc_agent.hpp>

#include "agent_contract.hpp"

namespace distrun::rpc {

std::shared_ptr<Agent> make_agent(const AgentSetting& setting) {
  return std::make_shared<agents::faulty::FaultyAgent>(std::make_shared<agents::inproc::InprocAgent>(setting),
                                                       wire::FaultPlan());
}

}  // namespace distrun::rpc
