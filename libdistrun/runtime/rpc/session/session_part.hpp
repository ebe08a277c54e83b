#pragma once
// What rooms above this one have in each session of a rank: made with it, and ended with it.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <distrun/runtime/rpc/calls/calls.hpp>

namespace distrun::rpc {

class SessionPart {
 public:
  virtual ~SessionPart() = default;
  // A part without something to do leaves it out.
  // In a graceful shutdown, when all workers have come to it, and before they make sure that no call runs. A hook may
  // stand for it. Throws what the shutdown then fails with.
  virtual void settle(base::TimePoint /*deadline*/, base::Location /*site*/) {}
  // After that, or the hook, while messages can still be sent: what is left over.
  virtual void look() {}
  // A worker is gone.
  virtual void lose(const WorkerInfo& /*peer*/, const base::Error& /*why*/) noexcept {}
  // Nothing is sent or received any more.
  virtual void close() noexcept {}
  // After close(), at the end of a graceful shutdown that has not failed: throws for what was left over.
  virtual void check() {}
  virtual void add_debug_info(std::map<std::string, std::string>& info) const = 0;
};

// Before start() of `calls`. `earlier` workers of this one's id have been in the group before it: what it counts, for
// ids that others know, must not be what they have counted.
using MakeSessionPart = std::shared_ptr<SessionPart> (*)(const std::shared_ptr<Calls>& calls, std::uint64_t earlier);
// While libraries are loaded.
bool add_session_part(MakeSessionPart make);
std::vector<std::shared_ptr<SessionPart>> make_session_parts(const std::shared_ptr<Calls>& calls,
                                                             std::uint64_t earlier);

}  // namespace distrun::rpc
