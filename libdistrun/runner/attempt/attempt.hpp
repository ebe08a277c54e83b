#pragma once
// One attempt of one test: starts the ranks, watches them, ends them and returns a record with a verdict. This is the
// attempt as its run sees it. Its parts:
//
//   ranks        the ranks' states, and the means to reach, time and record them (ranks.hpp)
//   provisions   what the ranks are given: directories, a store, their order (provisions.hpp)
//   course       the states of the attempt (course.hpp), with the order of failures (failures.hpp)
//   events       what happens to ranks and what they send (rank_events.hpp; programs.hpp for programs,
//                mpi_ranks.hpp for what MPI says)
//   conclusion   what follows when no rank works any more (conclusion.hpp)
//
// Lives on: the coordinator's loop.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <distrun/common/io/one_shot.hpp>
#include <distrun/runner/attempt/mpi_ranks.hpp>
#include <distrun/runner/attempt/rank_events.hpp>

namespace distrun::runner {

class Attempt {
 public:
  // `n` counts the attempts of the test. Throws Error if it cannot create the work directories or find a port.
  Attempt(const RunContext& run, const PlannedTest& test, int n, AttemptKind kind, const Environment& environment = {});
  ~Attempt();
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  // Runs the attempt; call it once. Completes within the test's bounds and the graces.
  io::Task<AttemptRecord> run();
  // Reads the stacks of all ranks now and passes them to the events, or only to `on_snapshot`. `settle`: as in
  // launch::StackOrder. False: it is too late.
  bool take_snapshot_now(Snapshots::OnSnapshot on_snapshot = {}, Nanoseconds settle = {}) {
    return course_.take_snapshot(SnapshotKind::Asked, std::move(on_snapshot), settle);
  }
  // Called when the debugger of the debugged rank has ended: lets the rank finish.
  void let_go();
  // pause() stops all ranks and suspends all bounds until resume().
  void pause() { ranks_.clocks.pause(world_.get()); }
  void resume() { ranks_.clocks.resume(world_.get()); }
  // Passes a user's signal on to ranks that are programs; does nothing for ranks of tests.
  void pass_on(int signal) { programs_.pass_on(signal); }
  // Stops the attempt because the run is stopped. May be called again with more urgency.
  void cancel(Urgency urgency) { course_.cancel(urgency); }
  // The host of the test's suite has died (`why`: "was killed by signal 9 (SIGKILL)"): notifies the ranks, which end.
  void lose_host(const std::string& why) { course_.lose_host(why); }

  // Returns what the ranks are doing.
  std::vector<RankView> views() const { return ranks_.views(); }
  base::RankHosts hosts() const { return ranks_.hosts(); }
  // Returns how much CPU time the rank's process has used so far.
  Nanoseconds cpu_time(int rank) const { return world_ ? world_->cpu_time(rank) : Nanoseconds{}; }
  Nanoseconds age() const { return ranks_.log.age(); }  // without pauses
  const std::vector<RankState>& ranks() const noexcept { return ranks_.all; }
  const PlannedTest& test() const noexcept { return ranks_.test; }
  int n() const noexcept { return ranks_.log.record().n; }
  // Returns the names that the ranks have created so far, as far as they are provably theirs.
  std::vector<proc::NewName> names() { return provisions_->names(); }
  // The settings that a host has provided for the ranks of its suite.
  const std::vector<wire::KeyValue>& suite_settings() const noexcept { return events_.suite_settings(); }

 private:
  launch::WorldSpec world_spec() const;
  void start_world();
  void borrow_world();

  const Environment environment_;
  Ranks ranks_;
  const std::unique_ptr<Provisions> provisions_;
  Course course_;
  Conclusion conclusion_;
  Programs programs_;
  const MpiRanks mpi_ranks_;
  RankEvents events_;
  std::shared_ptr<launch::World> world_;  // destroyed before the receiver of its events
  io::OneShot<bool> over_;
};

}  // namespace distrun::runner
