#pragma once
// Makes faulty agents.
#include <memory>

#include <distrun/runtime/rpc/session/backends.hpp>

namespace distrun::agents::faulty {

// Before the agent that there would be without it: for a rank that is a thread, inproc, unless a transport is named;
// else the pipe. Options are FaultyOptions, or PipeOptions, with which the faults are the run's. Throws
// Error{InvalidArgument} for a plan that makes no sense, and what making the other agent throws.
std::shared_ptr<rpc::Agent> make_faulty_agent(const rpc::AgentSetting& setting, const rpc::RpcBackendOptions& options);

}  // namespace distrun::agents::faulty
