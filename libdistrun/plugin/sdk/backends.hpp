#pragma once
// Process-group backends by their names: which there are for a test, and what each can do. The names of collectives
// and features, and the texts of the conditions, are those of PyTorch's harness, so that ported tests ask the same
// questions. Whoever brings a backend says so with add_backend(), and so does the runtime of those that it has; a
// plugin without either has none available.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/plugin/sdk/options.hpp>

namespace distrun {

using BackendVersion = std::array<int, 3>;  // major, minor, patch

// To be called while the plugin is loaded, by one thread; again for the same name replaces the version. A name that
// the tables below do not know gets the feature "plugin".
void add_backend(std::string name, BackendVersion version = {});
bool is_backend_available(std::string_view name);

// Whether a backend knows "allgather_coalesced", "reduce", "sendrecv anysource" or "cpu barrier". Throws
// Error{InvalidArgument} for another collective: those that are not in the table are everybody's.
bool backend_supports(std::string_view backend, std::string_view collective);
// Whether it has the feature "gpu", "cuda", "ddp", "subgroup", "profiling", "cuda profiling", "sendrecv profiling" or
// "plugin". Throws Error{InvalidArgument} for another.
bool backend_has(std::string_view backend, std::string_view feature);

// Skips unless the run's backend is one of these and available.
SkipCondition require_backend_is_available(std::vector<std::string> backends);
SkipCondition requires_gloo();
SkipCondition requires_nccl();
SkipCondition requires_ucc();
SkipCondition requires_mpi();
// `why` ends the reason of a skip: what the older version lacks.
SkipCondition requires_nccl_version(BackendVersion least, std::string why);

}  // namespace distrun
