#pragma once
// Workers that come and go. Who is there says a log in the store (member_log.hpp); each that joins tells those before
// it that it is there, and knows them, before its init returns.
//
// A worker that has died does not say that it leaves. It is taken out of the log by the next one that joins and finds
// that nobody listens at its address, and by each member out of what that knows when it is told of the loss.
//
// Members change in one order on each worker: the end of one that had an id or a name comes before the next one with it
// is known (changing_). Ends that are reported late are of that incarnation, and change nothing.
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <distrun/runtime/rpc/calls/calls.hpp>
#include <distrun/runtime/rpc/session/detail/member.hpp>
#include <distrun/runtime/rpc/session/detail/member_log.hpp>
#include <distrun/runtime/rpc/session/detail/roster.hpp>

namespace distrun::rpc {

class ElasticGroup {
 public:
  ElasticGroup(std::shared_ptr<Store> store, Member self)
      : store_(std::move(store)), log_(store_), self_(std::move(self)) {}

  // Appends itself. Throws Error{Failed} if a worker that is there has its name or its id, and what
  // check_device_maps() throws; then it has left again.
  void enter(Agent& agent);
  // Tells those that have come before. One that can't be reached may just be leaving: it is tried again until the log
  // says that it has left, its agent is gone, or a moment is over. Throws Error{Timeout} for who does not answer.
  // Returns who has been reached after it was lost.
  std::vector<Member> tell_others(Calls& calls, base::TimePoint deadline, base::Location site);
  // Appends that it leaves, and tells who is there, as far as they can be reached.
  void leave(Calls& calls) noexcept;
  // Only appends it, if it can.
  void leave_silently() noexcept;

  // Where the devices are of all that it knows of, itself too; before the calls start.
  void introduce_devices(Calls& calls) const;
  // Those that it knows of; before the calls start.
  void introduce_references(Calls& calls) const;

  // What peers call.
  void add(Calls& calls, const Member& member);
  // And tells it that it has taken note.
  void take_leave(Calls& calls, const Member& member);
  // The agent has lost that worker: it is a member no more if its agent is gone. `why` is what calls to it fail with.
  void remove_if_gone(Calls& calls, const WorkerInfo& peer, const Error& why) noexcept;

 private:
  std::optional<Member> find_known(WorkerKey key);
  void remove(Calls& calls, const Member& member);
  // With changing_ held. `has_died`: calls to its name fail with `why` from now on.
  void remove_now(Calls& calls, const Member& member, const Error& why, bool has_died);
  void wait_for_farewells(std::vector<Member> told);
  // Throws what Agent::add_worker() throws.
  void make_known(Agent& agent, const Member& member);
  bool is_made_known(Agent& agent, const Member& member);
  // It was taken out of the log, since nobody listens at its address.
  bool evict_if_gone(Agent& agent, const Member& member);
  void evict_namesakes(Agent& agent);
  void check_unique(const std::vector<Member>& before) const;
  std::vector<Member> tell(Calls& calls, const std::vector<Member>& members, base::TimePoint deadline,
                           base::Location site);
  bool may_try_again(Calls& calls, const Member& member, const Error& why);
  void reach_again(Calls& calls, const Member& member);

  const std::shared_ptr<Store> store_;
  MemberLog log_;
  const Member self_;
  std::vector<Member> before_;  // those who were there when it has joined
  // Held while one is added or removed, to the end. Before mutex_.
  std::mutex changing_;
  std::mutex mutex_;
  Roster known_;  // guarded by mutex_; those that the agent knows
};

}  // namespace distrun::rpc
