#pragma once
// The ranks of an attempt, and the means by which its parts reach, time and record them. Lives on: the coordinator's
// loop.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <distrun/runner/attempt/attempt_log.hpp>
#include <distrun/runner/attempt/clocks.hpp>
#include <distrun/runner/attempt/provisions.hpp>
#include <distrun/runner/attempt/rank_messaging.hpp>
#include <distrun/runner/attempt/rank_state.hpp>
#include <distrun/runner/attempt/run_context.hpp>
#include <distrun/runner/plan/plan.hpp>

namespace distrun::runner {

struct Ranks {
  // `run`, `test` and what `environment` names must outlive this; `on_alarm` is called when a bound may have expired.
  Ranks(const RunContext& run, const PlannedTest& test, int n, AttemptKind kind, const Environment& environment,
        std::function<void()> on_alarm);
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  // Call once, before ranks are reached. The world must outlive all use.
  void use(launch::World& made);
  RankState& at(int rank) { return all[static_cast<std::size_t>(rank)]; }
  bool has(int rank) const noexcept { return rank >= 0 && rank < static_cast<int>(all.size()); }
  // Returns the hosts of the ranks, to name them in texts.
  const base::RankHosts& hosts() const noexcept { return hosts_; }
  // Returns what the living ranks are doing.
  std::vector<RankView> views() const;
  // Returns whether all have been reported as started; a rank that is about to start may do anything.
  bool have_all_started() const;
  // Returns whether a wait for a rank may end by something that looks at the ranks do not show, though these began when
  // `sent` frames had been sent to ranks (RankMessaging::sent()).
  bool may_have_news_since(std::uint64_t sent) const { return !have_all_started() || messaging.sent() != sent; }
  // The rank can no longer be controlled: it is lost unless it ends at once.
  void lose_connection(int rank, const std::string& why);

  const RunContext& run;
  const PlannedTest& test;
  mpi::Server* const mpi;                     // of the ranks' world of MPI; null: they have none
  std::vector<RankState> all;                 // by rank
  std::vector<wire::AdoptedProcess> spawned;  // processes of MPI_Comm_spawn; they count as started by their ranks
  Clocks clocks;
  AttemptLog log;
  RankMessaging messaging;
  launch::World* world = nullptr;  // null until the attempt runs

 private:
  void add_mpi(RankView& view, const RankRecord& rank) const;

  base::RankHosts hosts_;
};

}  // namespace distrun::runner
