#pragma once
// Workers that come and go. Who is there says a log in the store, to which everybody appends that it joins or leaves:
// nobody holds a lock with which he could die. The order of the log is that in which workers have joined; each tells
// those before it that it is there, and knows them, before its init returns.
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <distrun/runtime/rpc/calls/calls.hpp>
#include <distrun/runtime/rpc/session/detail/member.hpp>

namespace distrun::rpc {

class ElasticGroup {
 public:
  ElasticGroup(std::shared_ptr<Store> store, Member self) : store_(std::move(store)), self_(std::move(self)) {}

  // Appends itself. Throws Error{Failed} if somebody who is there has its name or its id, and what
  // check_device_maps() throws; then it has left again.
  void enter(Agent& agent);
  // How many of its id had joined before it, by what enter() has read.
  std::uint64_t earlier() const noexcept { return earlier_; }
  // Tells those that have come before. One that can't be reached may just be leaving, or know an earlier worker of this
  // id that it has not seen leave: it is tried again until the log says that it has left, or for a moment, as who is
  // killed is in the log for ever. Throws Error{Timeout} for who does not answer.
  // Returns who has been reached after it was lost.
  std::vector<std::string> tell_others(Calls& calls, base::TimePoint deadline, base::Location site);
  // Appends that it leaves, and tells who is there, as far as they can be reached.
  void leave(Calls& calls) noexcept;
  // Only appends it, if it can.
  void leave_silently() noexcept;

  // Where the devices are of all that it knows of, itself too; before the calls start.
  void introduce_devices(Calls& calls) const;

  // What peers call.
  void add(Calls& calls, const Member& member);
  // And tells it that it has taken note.
  void take_leave(Calls& calls, const Member& member);

 private:
  void remove(Calls& calls, const Member& member);
  void wait_for_farewells(std::vector<Member> told);
  bool make_known(Agent& agent, const Member& member);  // false: it is known
  bool is_made_known(Agent& agent, const Member& member);
  void append(bool joins);
  std::vector<Member> present();
  void check_unique(const std::vector<Member>& before) const;
  std::vector<Member> tell(Calls& calls, const std::vector<Member>& members, base::TimePoint deadline,
                           base::Location site);
  bool has_left(const Member& member);
  bool may_try_again(Calls& calls, const Member& member, const Error& why);
  void reach_again(Calls& calls, const Member& member);

  const std::shared_ptr<Store> store_;
  const Member self_;
  std::uint64_t earlier_ = 0;
  std::vector<Member> before_;  // those who were there when it has joined
  // Held while one is added or removed, to the end: who comes under the id of one that leaves comes after its loss, and
  // who is known can be called. Before mutex_.
  std::mutex changing_;
  std::mutex mutex_;
  std::map<WorkerId, std::string> known_;  // guarded by mutex_; addresses of those that the agent knows
};

}  // namespace distrun::rpc
