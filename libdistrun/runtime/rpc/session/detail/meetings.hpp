#pragma once
// Where workers of the same names meet: what meeting.hpp's calls have in common, of one session.
//
//   follower  sends what it has to the leader (distrun.gather), and waits for what all have
//   leader    waits for all, and sends it to each (distrun.gathered); or why there is none
//
// A follower that has it may leave before it has answered that call, so it says so on the control lane first.
//
// Rounds are counted for each group, and a group with a successor of one of its workers is another group
// (meeting_keys.hpp).
//
// A round is there from when the rank enters it, at a leader also from the first contribution that comes, until the
// rank has left it; what comes for it afterwards is refused. Any thread.
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

// How long a meeting may take.
struct MeetingBounds {
  std::optional<base::Nanoseconds> call;  // of each call; not there: that of the session's calls; 0: none
  base::TimePoint deadline = core::kForever;
};
// Of `seconds`; 0: none.
MeetingBounds bounds_of(double seconds);

struct Told;  // told.hpp

class Meetings {
 public:
  // Why there is no map.
  struct Failure {
    std::string text;     // empty: there is one
    int because_of = -1;  // the rank from which it follows
    bool empty() const noexcept { return text.empty(); }
  };

  // `names` has the own one. Throws as all_gather().
  Gathered meet(Calls& calls, const Value& object, const std::set<std::string>& names, const MeetingBounds& bounds,
                base::Location site);

  // What peers call. `key` is the names. Throws Error{Failed} for a round that the rank has left, Error{Overloaded} for
  // one too many.
  void contribute(const std::string& key, std::uint64_t number, const std::string& name, const Value& object);
  // Of an empty `failure` there is a map. Whoever waits for it goes on when `before` has returned, or thrown.
  void finish(const std::string& key, std::uint64_t number, const Failure& failure, const Packed& packed,
              const std::function<void()>& before);
  void hear(const std::string& key, std::uint64_t number, const std::string& name);

  void lose(const WorkerInfo& worker, const Error& why);
  // It has joined, or was reached after it had been lost.
  void find_again(const WorkerInfo& worker);
  // Who waits is told that the session is over.
  void close();

 private:
  struct Round {
    Gathered gathered;
    bool is_over = false;  // a follower's: it has been told what came of it
    Failure failure;
    std::set<std::string> heard;  // a leader's: who has got the map
  };
  struct Group {
    std::uint64_t entered = 0;
    std::map<std::uint64_t, std::shared_ptr<Round>> rounds;
    Failure failure;  // a leader's: of the last round that it has given up
  };
  struct Lost {
    Incarnation incarnation = 0;
    Error why;
  };
  class Entered;

  Gathered lead(Calls& calls, const Value& object, const Entered& round, const MeetingBounds& bounds);
  Gathered follow(Calls& calls, const Value& object, const Entered& round, const MeetingBounds& bounds);
  static void look_after(Calls& calls, const Entered& round, const std::set<std::string>& names,
                         std::unique_lock<std::mutex>& lock);
  Gathered wait_for_all(Calls& calls, const Entered& round, const MeetingBounds& bounds);
  std::vector<Told> tell(Calls& calls, const Entered& round, const Failure& failure, const Packed& packed,
                         const MeetingBounds& bounds);
  void wait_for_told(const Entered& round, std::vector<Told>& all);
  bool has_heard(const Entered& round, const std::string& name);
  std::shared_ptr<Round> find_round(const std::string& key, std::uint64_t number);
  void check(const Entered& round, const std::set<std::string>& awaited, core::WaitEnd end) const;
  // Null: it is not known to be lost.
  const Lost* find_lost(const Entered& round, const std::string& name) const;
  bool is_hopeless(const Entered& round, const std::set<std::string>& awaited) const;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::map<std::string, Group> groups_;
  std::map<std::string, Lost> lost_;
  std::size_t rounds_ = 0;
  bool is_closed_ = false;
};

}  // namespace distrun::rpc
