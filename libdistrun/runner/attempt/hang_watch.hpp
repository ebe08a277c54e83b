#pragma once
// Finds deadlocks long before the timeout, and says what ranks wait for while nothing happens.
//
//   watching   every 0.2 s: has any rank done something on the board (otherwise the board stands still), or used more
//              than a little CPU (otherwise the attempt is quiet too)?
//     it is quiet, or the board has stood still for --suspect-after, and a look is allowed   -> looking
//   looking    the stacks of threads that sleep are read, without stopping any process (StackOrder::gentle)
//     they have come, and the board has not moved                  -> comparing, 0.1 s later
//   comparing  the stacks are read once more
//     the causes of both are the same and proven: a deadlock       -> over
//     otherwise                                                    -> watching
//
// Looks cost CPU: each pair takes one of kLooksMax, and one comes back every kLookPrice, so that a test that often
// pauses is not slowed down noticeably; in a long pause, each comes after ten times the time. A proof needs both
// looks: a thread that used no CPU between them waited all the time, so all waits of a cycle existed at the same
// moment, and nothing else can end them (doctor/stuck.hpp). A message between ranks of several hosts may be on its way
// for longer than the looks are apart: it has come to the coordinator before the second look of its sender's host,
// since their link keeps the order. So nothing may be sent to a rank during the second look
// (Snapshot::has_news_in_flight).
//
// After --suspect-after without progress on the board, even if ranks use CPU, and then after twice the time, the cause
// that a pair of looks has found is printed in a line. Lives on: the coordinator's loop.
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <distrun/common/io/loop.hpp>
#include <distrun/runner/attempt/ranks.hpp>

namespace distrun::runner {

class HangWatch {
 public:
  // The proven causes, the headline first.
  using OnDeadlock = std::function<void(std::vector<HangCause>)>;

  // `ranks` must outlive this. `on_deadlock` is called at most once.
  HangWatch(Ranks& ranks, OnDeadlock on_deadlock);

  // Call when the ranks are about to start.
  void begin();
  // The attempt is no longer running, or must not end by a deadlock.
  void end();

 private:
  enum class State : std::uint8_t { Watching, Looking, Comparing, Over };
  struct Activity {
    std::uint64_t epoch = 0;  // of the rank's board
    Nanoseconds cpu{};        // of its process
  };

  void on_alarm();
  void observe(base::TimePoint now);
  bool is_quiet() const { return quiet_since_ != checked_at_; }
  bool is_suspicious(base::TimePoint now) const;
  bool may_look(base::TimePoint now);
  void look(State state);
  void on_look(Snapshot snapshot);
  void compare(const Snapshot& now);
  void suspect(const std::vector<HangCause>& causes);
  void wait_for(Nanoseconds time);

  Ranks& ranks_;
  OnDeadlock on_deadlock_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // guards callbacks with stacks that arrive later
  State state_ = State::Watching;
  std::vector<Activity> activity_;  // by rank, at the last check
  base::TimePoint checked_at_;
  base::TimePoint quiet_since_;      // equal to checked_at_: not quiet
  base::TimePoint still_since_;      // of the board; at most quiet_since_
  Nanoseconds next_look_{};          // so long it must be quiet
  std::optional<Snapshot> earlier_;  // the first look of a pair
  double looks_;                     // that are allowed
  base::TimePoint looks_counted_at_;
  Nanoseconds suspect_after_{};  // of a board that stands still, for the next line; 0: never
  io::Alarm alarm_;
};

}  // namespace distrun::runner
