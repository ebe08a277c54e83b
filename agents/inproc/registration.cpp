#include <agents/inproc/inproc_agent.hpp>

namespace distrun::agents::inproc {
namespace {

bool takes(const rpc::RpcBackendOptions& options) { return dynamic_cast<const rpc::PipeOptions*>(&options) != nullptr; }

std::shared_ptr<rpc::Agent> make_agent(const rpc::AgentSetting& setting, const rpc::RpcBackendOptions& /*options*/) {
  return std::make_shared<InprocAgent>(setting);
}

// Registered while the library is loaded.
const rpc::Backend registered =
    rpc::register_backend({"inproc", takes, [] { return std::make_unique<rpc::PipeOptions>(); }, make_agent, {}});

}  // namespace
}  // namespace distrun::agents::inproc
