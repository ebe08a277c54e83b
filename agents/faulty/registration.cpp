// Registers the faulty agent as an RPC backend when the library is loaded.
#include <agents/faulty/backend.hpp>

namespace distrun::agents::faulty {
namespace {

// Also accepts the pipe's options, so that `--faults` can replace the pipe in any run.
bool takes(const rpc::RpcBackendOptions& options) {
  return dynamic_cast<const rpc::FaultyOptions*>(&options) != nullptr ||
         dynamic_cast<const rpc::PipeOptions*>(&options) != nullptr;
}

[[maybe_unused]] const rpc::Backend registered = rpc::register_backend({
    .name = "faulty",
    .takes = takes,
    .make_options = [] { return std::make_unique<rpc::FaultyOptions>(); },
    .make_agent = make_faulty_agent,
    .make_met_agent = {},
});

}  // namespace
}  // namespace distrun::agents::faulty
