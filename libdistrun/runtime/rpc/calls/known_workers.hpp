#pragma once
// The workers of a session, as its calls find them: by name, id or WorkerInfo. A snapshot of the agent's list, which
// the session renews after workers have joined or left.
//
//   unknown -> known (refresh) -> left or dead -> unknown, or known again as another incarnation
//
// Owned by Calls. Thread-safe. Locks, in this order: refreshing_, held while the agent is asked for its list, and
// mutex_, under which nothing else is called. Throws std::bad_alloc, and what the functions say.
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/agent.hpp>
#include <distrun/runtime/rpc/calls/destination.hpp>

namespace distrun::rpc {

class KnownWorkers {
 public:
  explicit KnownWorkers(std::shared_ptr<Agent> agent);

  // Throws Error{InvalidArgument}: "... could not find destination ..."; Error{Disconnected} for a worker that is known
  // to have died, and for a WorkerInfo of an incarnation that has left.
  WorkerInfo resolve(const Destination& to) const;
  // Returns nullopt if that worker has left or is unknown.
  std::optional<WorkerInfo> find(WorkerKey key) const;
  // Returns the name of a worker that may have left.
  std::string name_of(WorkerKey key) const;
  // Asks the agent: a worker may leave between its lookup and the message to it.
  bool has_left(const WorkerInfo& worker) const noexcept;

  // Called by the session after workers have joined or left; resolve() uses the new list afterwards.
  void refresh();
  // Called by the session before refresh(), when a worker has died that the agent does not list any more. Calls to its
  // name fail with `why` until another worker has the name.
  void note_death(const WorkerInfo& worker, const Error& why);

 private:
  struct List;

  std::shared_ptr<const List> list() const;
  void throw_if_dead(const std::string& name, base::Location site) const;

  const std::shared_ptr<Agent> agent_;
  std::mutex refreshing_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::shared_ptr<const List> list_;
  std::map<std::string, Error> dead_;  // the reasons, by worker name
};

}  // namespace distrun::rpc
