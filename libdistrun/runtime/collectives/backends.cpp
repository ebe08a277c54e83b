#include <distrun/runtime/collectives/backends.hpp>

#include <cstdlib>

#include <distrun/common/base/backend_names.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/nearest.hpp>
#include <distrun/runtime/collectives/gloo/gloo_backend.hpp>
#include <distrun/runtime/collectives/nccl/nccl_backend.hpp>
#include <distrun/runtime/collectives/nccl/virtual_library.hpp>
#include <distrun/runtime/collectives/shm/shm_backend.hpp>
#include <distrun/runtime/core/backends.hpp>

namespace distrun::collectives {
namespace {

// Runs when the library is loaded, since tests are listed according to the available backends.
const bool known = [] {
  core::add_backend({"shm", {}});
  core::add_backend({"threads", {}});
  core::add_backend({"nccl", kVirtualVersion});  // virtual GPUs are always available
  if (has_gloo()) core::add_backend({"gloo", {}});
  return true;
}();

// Single copies can be turned off, for comparisons and to spare a machine's kernel.
bool may_copy_once() {
  const char* const value = std::getenv("DISTRUN_SHM_SINGLE_COPY");
  return value == nullptr || std::string(value) != "0";
}

std::string all_names() {
  std::string all;
  for (const std::string_view name : base::kBackendNames) all += (all.empty() ? "" : ", ") + std::string(name);
  return all;
}

}  // namespace

std::string why_no_backend(const std::string& name) {
  if (name == "shm" || name == "threads") return "";
  if (name == "gloo") {
    const std::string why = why_no_gloo();
    return why.empty() ? "" : why + "; shm does the same on one machine";
  }
  if (name == "nccl") return why_no_nccl();
  if (name == "mpi")
    return "this distrun was built without MPI, and its ranks are not started by mpirun; shm does the same";
  if (name == "ucc") return "this distrun was built without UCC; shm does the same on one machine";
  return "unknown backend \"" + name + "\"; expected " + all_names() +
         base::did_you_mean(name, {base::kBackendNames.begin(), base::kBackendNames.end()});
}

AnyBackend make_backend(const std::string& name, const GroupInfo& group, Store& store, base::TimePoint deadline,
                        const BackendOptions& options) {
  if (const std::string why = why_no_backend(name); !why.empty()) {
    const bool is_known = base::is_backend_name(name);
    throw Error(is_known ? ErrorKind::Unimplemented : ErrorKind::InvalidArgument,
                is_known ? "RuntimeError" : "ValueError", "backend " + name + ": " + why);
  }
  if (name == "gloo") return make_gloo_backend(group, store, deadline);
  if (name == "nccl") return make_nccl_backend(group, store, deadline, options);
  return make_shm_backend(group, store, deadline, {.threads_only = name == "threads", .single_copy = may_copy_once()});
}

}  // namespace distrun::collectives
