#pragma once
// The meetings of one session; the common part of the functions in meeting.hpp.
//
//   follower  sends its object to the leader (distrun.gather), and waits for the map of all objects
//   leader    waits for all, and sends the map, or the reason for a failure, to each follower (distrun.gathered)
//
// A follower that has the map may leave before it has answered that call, so it first confirms on the control lane.
//
// A follower that fails (because memory is missing, for example) reports that to the leader, which then fails the round
// for all. A worker that cannot even report a failure ends the connection, so that its peers do not wait in vain.
//
// Rounds are counted for each group. A group with a successor of a worker is another group (meeting_keys.hpp).
//
// A round exists from the time the rank enters it (on a leader: also from the first contribution) until the rank leaves
// it. Later messages for it are rejected. Thread-safe.
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/rpc/calls/calls.hpp>
#include <distrun/runtime/rpc/values/codec.hpp>

namespace distrun::rpc {

using Gathered = std::map<std::string, Value>;

// Time limits of a meeting.
struct MeetingBounds {
  std::optional<base::Nanoseconds> call;  // of each call; none: that of the session's calls; 0: no limit
  base::TimePoint deadline = core::kForever;
};
// Returns bounds of `seconds`; 0: no limit.
MeetingBounds bounds_of(double seconds);

struct Told;  // told.hpp

class Meetings {
 public:
  // Why there is no gathered map.
  struct Failure {
    std::string text;     // empty: no failure
    int because_of = -1;  // the rank that caused it
    bool empty() const noexcept { return text.empty(); }
    static Failure of(const Error& why) noexcept;
  };

  // `names` includes this worker. Throws as all_gather(): std::bad_alloc only if the worker has entered no round.
  Gathered meet(Calls& calls, const Value& object, const std::set<std::string>& names, const MeetingBounds& bounds,
                base::Location site);

  // Called by peers. `key`: key_of() the group. Throws Error{Failed} for a round that the rank has left,
  // Error{Overloaded} if there are too many rounds.
  void contribute(const std::string& key, std::uint64_t number, const std::string& name, const Value& object);
  // `packed` holds the map if `failure` is empty. Wakes waiting threads after `before` has returned or thrown.
  void finish(const std::string& key, std::uint64_t number, const Failure& failure, const Packed& packed,
              const std::function<void()>& before);
  void hear(const std::string& key, std::uint64_t number, const std::string& name);
  // The follower `name` has left the round. Throws Error{Overloaded} if there are too many rounds.
  void fail(const std::string& key, std::uint64_t number, const std::string& name, const Failure& why);

  void lose(const WorkerInfo& worker, const Error& why);
  // Called when a worker has joined, or was reached again after a loss.
  void find_again(const WorkerInfo& worker);
  // Fails all waits, because of `why`, which lives until the process ends.
  void close(const char* why) noexcept;

 private:
  struct Round {
    Gathered gathered;
    bool is_over = false;         // on followers: the leader has reported the outcome
    Failure failure;              // on the leader: a follower's
    std::set<std::string> heard;  // on the leader: the followers that have the map
  };
  struct Group {
    std::uint64_t entered = 0;
    std::map<std::uint64_t, std::shared_ptr<Round>> rounds;
    Failure failure;  // on the leader: that of the last failed round
  };
  struct Lost {
    Incarnation incarnation = 0;
    Error why;
  };
  class Entered;

  Gathered lead(Calls& calls, const Value& object, const Entered& round, const MeetingBounds& bounds);
  Gathered gather(Calls& calls, const Value& object, const Entered& round, const MeetingBounds& bounds);
  void spread(Calls& calls, const Entered& round, const Packed& packed, const MeetingBounds& bounds);
  Gathered follow(Calls& calls, const Value& object, const Entered& round, const MeetingBounds& bounds);
  Gathered exchange(Calls& calls, const Value& object, const Entered& round, const MeetingBounds& bounds);
  void report(Calls& calls, const Entered& round, const Error& why) noexcept;
  static void look_after(Calls& calls, const Entered& round, const std::set<std::string>& names,
                         std::unique_lock<std::mutex>& lock);
  Gathered wait_for_all(Calls& calls, const Entered& round, const MeetingBounds& bounds);
  std::vector<Told> tell(Calls& calls, const Entered& round, const Packed& packed, const MeetingBounds& bounds);
  void tell_failure(Calls& calls, const Entered& round, const std::string& name, const Failure& failure,
                    const MeetingBounds& bounds) noexcept;
  void fail_all(Calls& calls, const Entered& round, const Error& why, const MeetingBounds& bounds) noexcept;
  void wait_for_told(const Entered& round, std::vector<Told>& all);
  bool has_heard(const Entered& round, const std::string& name);
  std::shared_ptr<Round> find_round(const std::string& key, std::uint64_t number);
  Round* find_or_add_round(Group& group, std::uint64_t number);
  void check(const Entered& round, const std::set<std::string>& awaited, core::WaitEnd end) const;
  // Returns null if the worker is not known to be lost.
  const Lost* find_lost(const Entered& round, const std::string& name) const;
  bool is_hopeless(const Entered& round, const std::set<std::string>& awaited) const;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::map<std::string, Group> groups_;
  std::map<std::string, Lost> lost_;
  std::size_t rounds_ = 0;
  const char* closed_ = nullptr;  // why; null: it is not
};

}  // namespace distrun::rpc
