#pragma once
// Creates faulty agents.
#include <memory>

#include <distrun/runtime/rpc/session/backends.hpp>

namespace distrun::agents::faulty {

// Wraps the agent that the session would have without faults: inproc for a rank that is a thread, unless a transport is
// named; otherwise the pipe. `options` are FaultyOptions, or PipeOptions, for which the run's plan of faults applies.
// Throws Error{InvalidArgument} for an invalid plan, and what creating the inner agent throws.
std::shared_ptr<rpc::Agent> make_faulty_agent(const rpc::AgentSetting& setting, const rpc::RpcBackendOptions& options);

}  // namespace distrun::agents::faulty
