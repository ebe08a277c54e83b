// The agent for ranks that are processes; DISTRUN_CONTRACT_TRANSPORT selects the transport.
#include <agents/pipe/backend.hpp>

#include "agent_contract.hpp"

namespace distrun::rpc {

std::shared_ptr<Agent> make_agent(const AgentSetting& setting) {
  PipeOptions options;
  options.transports = {DISTRUN_CONTRACT_TRANSPORT};
  return agents::pipe::make_pipe_agent(setting, options);
}

}  // namespace distrun::rpc
