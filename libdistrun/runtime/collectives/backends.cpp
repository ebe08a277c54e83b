#include <distrun/runtime/collectives/backends.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/nearest.hpp>
#include <distrun/common/wire/backend_names.hpp>
#include <distrun/runtime/collectives/gloo/gloo_backend.hpp>
#include <distrun/runtime/collectives/hosts_of_group.hpp>
#include <distrun/runtime/collectives/nccl/nccl_backend.hpp>
#include <distrun/runtime/collectives/nccl/virtual_library.hpp>
#include <distrun/runtime/collectives/shm/shm_backend.hpp>
#include <distrun/runtime/core/backends.hpp>

namespace distrun::collectives {
namespace {

// Single copies can be turned off, for comparisons and to spare a machine's kernel.
bool may_copy_once() {
  const char* const value = std::getenv("DISTRUN_SHM_SINGLE_COPY");
  return value == nullptr || std::string(value) != "0";
}

std::unique_ptr<HostBackend> make_shm(const GroupInfo& group, Store& store, base::TimePoint deadline) {
  refuse_several_hosts("backend shm", "backend gloo (--backend gloo)", store, group, deadline);
  return make_shm_backend(group, store, deadline, {.threads_only = false, .single_copy = may_copy_once()});
}

std::unique_ptr<HostBackend> make_threads(const GroupInfo& group, Store& store, base::TimePoint deadline) {
  refuse_several_hosts("backend threads", "backend gloo (--backend gloo)", store, group, deadline);
  return make_shm_backend(group, store, deadline, {.threads_only = true, .single_copy = may_copy_once()});
}

std::string why_gloo_is_absent() {
  const std::string why = why_no_gloo();
  return why.empty() ? "" : why + "; shm does the same on one machine";
}

std::string why_mpi_is_absent() {
  return "this distrun was built without MPI, and its ranks are not started by mpirun; shm does the same";
}

std::string why_ucc_is_absent() { return "this distrun was built without UCC; shm does the same on one machine"; }

using HostFactory = std::unique_ptr<HostBackend> (*)(const GroupInfo& group, Store& store, base::TimePoint deadline);
using DeviceFactory = std::unique_ptr<DeviceBackend> (*)(const GroupInfo& group, Store& store, base::TimePoint deadline,
                                                         const BackendOptions& options);

// All that groups know of a backend.
struct BackendRow {
  std::string_view name;
  std::variant<std::monostate, HostFactory, DeviceFactory> make{};  // empty: at most a plugin brings it
  std::string (*why_absent)() = [] { return std::string(); };       // may open a module; empty: it is available
  bool (*is_listed)() = [] { return true; };                        // opens nothing
  std::array<int, 3> version{};                                     // 0.0.0: unknown
  bool takes_processes = true;                                      // ranks may be processes

  constexpr bool is_here() const { return make.index() != 0; }
  constexpr bool is_for_host() const { return std::holds_alternative<HostFactory>(make); }
};

// The table of backends. Errors name them in this order.
constexpr std::array<BackendRow, 6> kBackends{{
    {.name = "shm", .make = make_shm},
    {.name = "threads", .make = make_threads, .takes_processes = false},
    {.name = "gloo", .make = make_gloo_backend, .why_absent = why_gloo_is_absent, .is_listed = has_gloo},
    // It is always listed: virtual GPUs need no library.
    {.name = "nccl", .make = make_nccl_backend, .why_absent = why_no_nccl, .version = kVirtualVersion},
    {.name = "mpi", .why_absent = why_mpi_is_absent},
    {.name = "ucc", .why_absent = why_ucc_is_absent},
}};

// Returns null for an unknown name.
constexpr const BackendRow* row_of(std::string_view name) {
  for (const BackendRow& row : kBackends) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

static_assert(kBackends.size() == wire::kBackendNames.size() &&
                  std::all_of(wire::kBackendNames.begin(), wire::kBackendNames.end(),
                              [](std::string_view name) {
                                const BackendRow* const row = row_of(name);
                                return row != nullptr && row->is_here() != wire::is_only_of_plugins(name);
                              }),
              "the table and wire::kBackendNames must have the same names");

// Runs when the library is loaded, since tests are listed according to the available backends.
const bool known = [] {
  for (const BackendRow& row : kBackends) {
    if (row.is_here() && row.is_listed()) core::add_backend({std::string(row.name), row.version});
  }
  return true;
}();

std::vector<std::string> host_names(bool of_processes) {
  std::vector<std::string> names;
  for (const BackendRow& row : kBackends) {
    if (row.is_for_host() && (row.takes_processes || !of_processes)) names.emplace_back(row.name);
  }
  return names;
}

template <class Names>
std::string comma_separated(const Names& names) {
  std::string all;
  for (const auto& name : names) all += (all.empty() ? "" : ", ") + std::string(name);
  return all;
}

}  // namespace

std::string host_backend_names() { return comma_separated(host_names(false)); }
std::string host_backends_of_processes() { return base::joined_by_or(host_names(true)); }

std::string why_no_backend(const std::string& name) {
  if (const BackendRow* const row = row_of(name)) return row->why_absent();
  return "unknown backend \"" + name + "\"; expected " + comma_separated(wire::kBackendNames) +
         base::did_you_mean(name, {wire::kBackendNames.begin(), wire::kBackendNames.end()});
}

AnyBackend make_backend(const std::string& name, const GroupInfo& group, Store& store, base::TimePoint deadline,
                        const BackendOptions& options) {
  if (const std::string why = why_no_backend(name); !why.empty()) {
    const bool is_known = wire::is_backend_name(name);
    throw Error(is_known ? ErrorKind::Unimplemented : ErrorKind::InvalidArgument,
                is_known ? "RuntimeError" : "ValueError", "backend " + name + ": " + why);
  }
  const BackendRow& row = *row_of(name);
  if (row.is_for_host()) return std::get<HostFactory>(row.make)(group, store, deadline);
  return std::get<DeviceFactory>(row.make)(group, store, deadline, options);
}

}  // namespace distrun::collectives
