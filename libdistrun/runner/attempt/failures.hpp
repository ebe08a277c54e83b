#pragma once
// The order in which the ranks' failures are decided, and the news of them to the other ranks.
//
// When a rank dies, its peers learn it as soon as its descriptors are closed, but the coordinator only when the kernel
// has taken the whole process apart. So an error that follows from a death may arrive first. It is held while ranks are
// ending, or while the rank named by the error has not ended, for at most kHoldMax. Held failures are then decided
// together: deaths first, then failures that name no rank, and among these in order of arrival.
//
// Lives on: the coordinator's loop.
#include <optional>
#include <vector>

#include <distrun/runner/attempt/ranks.hpp>

namespace distrun::runner {

class Failures {
 public:
  // The attempt's states.
  class Owner {
   public:
    // Failures are held only while the attempt is running.
    virtual bool is_running() const = 0;
    // A failure was decided while the attempt was running, and the other ranks have been notified.
    virtual void on_failure() = 0;

   protected:
    ~Owner() = default;
  };

  // Both must outlive this.
  Failures(Ranks& ranks, Owner& owner) : ranks_(ranks), owner_(owner) {}

  // Records the rank's bad outcome: holds or decides it and, if it is the first, notifies the other ranks.
  void fail(RankState& rank, const Outcome& outcome);
  // Gives the rank's outcome its number in the order of decisions.
  void decide(RankState& rank) { rank.record.decided = ++decisions_; }
  // The rank that was the first to be decided as failed; -1: none.
  int first() const noexcept { return first_; }
  bool any_held() const noexcept { return !held_.empty(); }
  // Decides held failures unless a rank has yet to end that may be their cause.
  void settle();
  // The same when the time of a hold is over: `now` may be late enough to decide anyway.
  void check(base::TimePoint now);
  void decide_held();

  // Notifies the other ranks of the failure, or of its root cause if that is known.
  void tell_peers(const RankState& failed);
  // Notifies the other ranks of a declared death: a wait for this rank will not complete, although it is no failure.
  void tell_declared_death(int rank);
  // Replaces each rank's cause by the last in the chain of causes. Called at the end, when all reports of ranks about
  // each other are in: errors with one cause arrive in any order.
  void find_root_causes();

 private:
  std::optional<RemoteTime> time_of(const RankState& rank, const Outcome& outcome) const;
  void hold(RankState& rank);
  bool may_be_named(int rank) const;
  bool is_death_near() const;
  bool is_dying(const RankState& rank) const;
  void decide_failure(RankState& rank);
  int root_cause(int rank) const;

  Ranks& ranks_;
  Owner& owner_;
  int decisions_ = 0;
  int first_ = -1;
  std::vector<int> held_;                              // ranks with held failures, in order of arrival
  base::TimePoint hold_end_ = base::TimePoint::max();  // held failures are decided by then at the latest
};

}  // namespace distrun::runner
