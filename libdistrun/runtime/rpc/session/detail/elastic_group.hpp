#pragma once
// A group in which workers join and leave at any time. A log in the store lists the members (member_log.hpp). Before
// init_rpc() of a new worker returns, it knows all members, and all members know it.
//
// A worker that dies does not leave the log. The next worker that joins and finds no listener at its address removes it
// from the log; each member removes it from its roster (roster.hpp) when the agent reports the loss.
//
// On each worker, the removal of a member is complete before its successor is added (changing_).
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

  // Adds this worker to the log. Throws Error{Failed} if a member has its name or its id, and what check_device_maps()
  // throws; the worker is removed from the log then.
  void enter(Agent& agent);
  // Announces this worker to the members that joined before. A member that cannot be reached may just be leaving: it is
  // tried again for a second, or until it has left the log or its agent is gone. Throws Error{Timeout} for a member
  // that does not answer, Error{Disconnected} for one that is there and cannot be reached. Returns the members that
  // were reached after they had been lost.
  std::vector<Member> tell_others(Calls& calls, base::TimePoint deadline, base::Location site);
  // Leaves the log, and announces that to all members that can be reached.
  void leave(Calls& calls) noexcept;
  // Leaves the log only, if the store can be reached.
  void leave_silently() noexcept;

  // Sets the sites of the devices of all known members, its own included. Call it before the calls start.
  void introduce_devices(Calls& calls) const;
  // Registers all known members with the references. Call it before the calls start.
  void introduce_references(Calls& calls) const;

  // Called when a member announces that it joins.
  void add(Calls& calls, const Member& member);
  // Called when a member announces that it leaves; confirms that in the store.
  void take_leave(Calls& calls, const Member& member);
  // Called when the agent has lost a worker. Removes it if its agent is gone; calls to its name fail with `why` then.
  void remove_if_gone(Calls& calls, const WorkerInfo& peer, const Error& why) noexcept;

 private:
  struct Untold {
    Member member;
    Error why;
  };

  static std::vector<Member> members_of(const std::vector<Untold>& untold);
  std::optional<Member> find_known(WorkerKey key);
  void add_now(Calls& calls, const Member& member);
  void remove(Calls& calls, const Member& member);
  bool is_half_added(WorkerKey key) const;
  // Requires changing_. `has_died`: calls to its name fail with `why` from now on.
  void remove_now(Calls& calls, const Member& member, const Error& why, bool has_died);
  void wait_for_farewells(std::vector<Member> told);
  // Throws what Agent::add_worker() throws.
  void make_known(Agent& agent, const Member& member);
  bool is_made_known(Agent& agent, const Member& member);
  // Removes the member from the log, and returns true, if there is no listener at its address.
  bool evict_if_gone(Agent& agent, const Member& member);
  void evict_namesakes(Agent& agent);
  void check_unique(const std::vector<Member>& before) const;
  std::vector<Untold> tell(Calls& calls, const std::vector<Member>& members, base::TimePoint deadline,
                           base::Location site);
  bool may_try_again(Calls& calls, const Member& member, Error& why);
  void reach_again(Calls& calls, const Member& member);

  const std::shared_ptr<Store> store_;
  MemberLog log_;
  const Member self_;
  std::vector<Member> before_;  // members when this worker joined
  // Held while a member is added or removed. Locked before mutex_.
  std::mutex changing_;
  std::vector<WorkerKey> half_added_;  // guarded by changing_; memory ran out: a further attempt completes them
  std::mutex mutex_;
  Roster known_;  // guarded by mutex_; the members that the agent knows
};

}  // namespace distrun::rpc
