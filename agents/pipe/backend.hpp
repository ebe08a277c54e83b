#pragma once
// Creates pipe agents.
#include <memory>

#include <distrun/runtime/rpc/session/backends.hpp>

namespace distrun::agents::pipe {

// The agent belongs to the rank of the calling thread. Throws Error{InvalidArgument} for unknown transports and
// channels ("Unknown transport: X"), and what opening its sockets and its shared memory throws.
std::shared_ptr<rpc::Agent> make_pipe_agent(const rpc::AgentSetting& setting, const rpc::PipeOptions& options);

}  // namespace distrun::agents::pipe
