#pragma once
// The backends by name: creates a group's backend. The table in backends.cpp is the only place that names them.
#include <memory>
#include <string>
#include <variant>

#include <distrun/runtime/collectives/backend_options.hpp>
#include <distrun/runtime/collectives/device_backend.hpp>
#include <distrun/runtime/collectives/host_backend.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::collectives {

// A backend, by its kind. Never empty.
using AnyBackend = std::variant<std::unique_ptr<HostBackend>, std::unique_ptr<DeviceBackend>>;

// Meets the group's other ranks in `store`, which must be private to the group. Throws Error{InvalidArgument,
// "ValueError"} for an unknown name, Error{Unimplemented} with the reason if the backend is not available, and what the
// backend's factory throws.
AnyBackend make_backend(const std::string& name, const GroupInfo& group, Store& store, base::TimePoint deadline,
                        const BackendOptions& options = {});
// Returns the reason that make_backend() would give; empty if the backend is available.
std::string why_no_backend(const std::string& name);

// Return the backends for host bytes that errors suggest: all, "shm, threads, gloo", and those that take ranks of
// several processes, "shm or gloo".
std::string host_backend_names();
std::string host_backends_of_processes();

}  // namespace distrun::collectives
