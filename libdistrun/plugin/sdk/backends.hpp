#pragma once
// Process-group backends by name: which are available to a test, and what they support. The names of collectives and
// features and the texts of the conditions are those of PyTorch's harness, so that ported tests work unchanged. Plugins
// register their backends with add_backend(); the runtime registers the ones it has. A plugin may have none.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/plugin/sdk/options.hpp>

namespace distrun {

using BackendVersion = std::array<int, 3>;  // major, minor, patch

// Registers a backend; for the same name, replaces the version. Call it while the plugin is loaded, on one thread. A
// name that the tables below do not know gets the feature "plugin".
void add_backend(std::string name, BackendVersion version = {});
// Returns whether a backend of that name was registered.
bool is_backend_available(std::string_view name);

// Returns whether a backend supports "allgather_coalesced", "reduce", "sendrecv anysource" or "cpu barrier". Throws
// Error{InvalidArgument} for any other collective: all backends support those.
bool backend_supports(std::string_view backend, std::string_view collective);
// Returns whether it has the feature "gpu", "cuda", "ddp", "subgroup", "profiling", "cuda profiling", "sendrecv
// profiling" or "plugin". Throws Error{InvalidArgument} for another.
bool backend_has(std::string_view backend, std::string_view feature);

// Skips unless the run's backend is one of these and available.
SkipCondition require_backend_is_available(std::vector<std::string> backends);
// These skip, with the text of PyTorch's harness, unless that backend is available; the run may use another one.
SkipCondition requires_gloo();
SkipCondition requires_nccl();
SkipCondition requires_ucc();
SkipCondition requires_mpi();
// `why` ends the text of the skip: what the older version lacks.
SkipCondition requires_nccl_version(BackendVersion least, std::string why);

}  // namespace distrun
