#pragma once
// Which backend a group has, by its name.
#include <memory>
#include <string>

#include <distrun/runtime/collectives/backend.hpp>
#include <distrun/runtime/collectives/backend_options.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::collectives {

// Meets the group's other ranks in `store`, which is the group's own. Throws Error{InvalidArgument, "ValueError"} for a
// name that nobody knows, Error{Unimplemented} for one that is not there, with the reason, and what its maker throws.
std::unique_ptr<Backend> make_backend(const std::string& name, const GroupInfo& group, Store& store,
                                      base::TimePoint deadline, const BackendOptions& options = {});
// What make_backend() would say; empty: it would make one.
std::string why_no_backend(const std::string& name);

}  // namespace distrun::collectives
