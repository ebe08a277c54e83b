#pragma once
// Makes pipe agents.
#include <memory>

#include <distrun/runtime/rpc/session/backends.hpp>

namespace distrun::agents::pipe {

// Of the rank whose work the calling thread does. Throws Error{InvalidArgument} for transports and channels that there
// are not ("Unknown transport: X"), and what opening its sockets and its shared memory throws.
std::shared_ptr<rpc::Agent> make_pipe_agent(const rpc::AgentSetting& setting, const rpc::PipeOptions& options);

}  // namespace distrun::agents::pipe
