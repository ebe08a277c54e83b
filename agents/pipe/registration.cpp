// Registers the pipe agent as an RPC backend when the library is loaded.
#include <agents/pipe/backend.hpp>

namespace distrun::agents::pipe {
namespace {

[[maybe_unused]] const rpc::Backend registered = rpc::register_backend({
    .name = "pipe",
    .takes =
        [](const rpc::RpcBackendOptions& options) {
          return dynamic_cast<const rpc::PipeOptions*>(&options) != nullptr;
        },
    .make_options = [] { return std::make_unique<rpc::PipeOptions>(); },
    .make_agent =
        [](const rpc::AgentSetting& setting, const rpc::RpcBackendOptions& options) {
          return make_pipe_agent(setting, dynamic_cast<const rpc::PipeOptions&>(options));
        },
    .make_met_agent = {},
});

}  // namespace
}  // namespace distrun::agents::pipe
