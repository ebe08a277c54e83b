#pragma once
// The contract of every backend of process groups. The cases are in backend_contract.cpp; each backend has a separate
// binary with one more source, which creates its ranks.
#include <functional>
#include <string>
#include <vector>

#include <distrun/runtime/collectives/host_backend.hpp>

namespace distrun::collectives {

using Body = std::function<void(HostBackend& backend, const GroupInfo& group)>;

// Runs the body on `ranks` ranks, each with the backend of a group of all; returns the exception text of each, empty:
// none. A body reports errors by exceptions, since Catch2's checks belong to one thread. Skips the case if the backend
// is not available.
std::vector<std::string> run_ranks(int ranks, const Body& body);
// Returns whether point-to-point messages between two ranks are matched by tag, or only by order.
bool letters_have_tags();

}  // namespace distrun::collectives
