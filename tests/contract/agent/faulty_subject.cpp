// The faulty agent before the pipe: with a plan without faults it behaves like the pipe.
#include <agents/faulty/faulty_agent.hpp>
#include <agents/pipe/backend.hpp>

#include "agent_contract.hpp"

namespace distrun::rpc {

std::shared_ptr<Agent> make_agent(const AgentSetting& setting) {
  return std::make_shared<agents::faulty::FaultyAgent>(
      agents::pipe::make_pipe_agent(setting, PipeOptions()),
      wire::parse_fault_plan("plan", "1:drop:any:0,dup:any:0,reorder:any:0:3,corrupt:any:0,delay:any:0,fail:any:0"));
}

}  // namespace distrun::rpc
