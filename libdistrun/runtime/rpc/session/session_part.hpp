#pragma once
// State that higher modules keep for each session of a rank; created and ended with the session.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <distrun/runtime/rpc/calls/calls.hpp>

namespace distrun::rpc {

class SessionPart {
 public:
  virtual ~SessionPart() = default;
  // All functions have empty defaults, except add_debug_info().
  //
  // Called in a graceful shutdown after all workers have reached it, and before they make sure that no call runs. A
  // hook may replace it. Errors fail the shutdown.
  virtual void settle(base::TimePoint /*deadline*/, base::Location /*site*/) {}
  // Called after settle() or the hook, while messages can still be sent; records the remaining state.
  virtual void look() {}
  // Called when a worker is gone.
  virtual void lose(const WorkerInfo& /*peer*/, const base::Error& /*why*/) noexcept {}
  // Called when nothing is sent or received any more.
  virtual void close() noexcept {}
  // Called after close() in a graceful shutdown without errors. Throws if look() has found leftovers.
  virtual void check() {}
  virtual void add_debug_info(std::map<std::string, std::string>& info) const = 0;
};

// Called before `calls` start. `earlier`: the number of workers that had this worker's id in the group before it. Ids
// that other workers see must not repeat theirs.
using MakeSessionPart = std::shared_ptr<SessionPart> (*)(const std::shared_ptr<Calls>& calls, std::uint64_t earlier);
// Registers a part while libraries are loaded.
bool add_session_part(MakeSessionPart make);
std::vector<std::shared_ptr<SessionPart>> make_session_parts(const std::shared_ptr<Calls>& calls,
                                                             std::uint64_t earlier);

}  // namespace distrun::rpc
