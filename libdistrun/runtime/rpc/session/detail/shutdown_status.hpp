#pragma once
// The states that workers report when a graceful shutdown takes too long, and the texts built from them.
#include <map>
#include <string>

#include <distrun/runtime/rpc/calls/calls.hpp>
#include <distrun/runtime/rpc/session/detail/control.hpp>

namespace distrun::rpc {

// Returns the current status of this worker (ControlKind::Status).
Control status_of(Calls& calls, bool is_in_shutdown);
// Returns "1 call running, 2 waiting"; counts only handlers that run no call. Empty: the worker is quiet.
std::string what_it_does(const Control& status);

struct ById {
  bool operator()(const WorkerInfo& a, const WorkerInfo& b) const noexcept { return a.id() < b.id(); }
};

using ShutdownStatuses = std::map<WorkerInfo, Control, ById>;
// Returns "worker0 has sent 5 calls to worker1, which has received 4": these messages are in flight, lost or
// duplicated. Empty: all numbers agree.
std::string what_is_uneven(const ShutdownStatuses& statuses);

}  // namespace distrun::rpc
