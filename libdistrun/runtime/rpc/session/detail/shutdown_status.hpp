#pragma once
// The states that workers report when a graceful shutdown takes too long, and the texts that are made of them.
#include <map>
#include <string>

#include <distrun/runtime/rpc/calls/calls.hpp>
#include <distrun/runtime/rpc/session/detail/control.hpp>

namespace distrun::rpc {

// A ControlKind::Status of this worker, as it is now.
Control status_of(const Calls& calls, bool is_in_shutdown);
// "1 call running, 2 waiting"; of handlers those that run no calls. Empty: it is quiet.
std::string what_it_does(const Control& status);

struct ById {
  bool operator()(const WorkerInfo& a, const WorkerInfo& b) const noexcept { return a.id() < b.id(); }
};

using ShutdownStatuses = std::map<WorkerInfo, Control, ById>;
// "worker0 has sent 5 calls to worker1, which has received 4": messages between these are in flight, were
// lost, or came twice. Empty: all numbers agree.
std::string what_is_uneven(const ShutdownStatuses& statuses);

}  // namespace distrun::rpc
