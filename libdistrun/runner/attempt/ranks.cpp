#include <distrun/runner/attempt/ranks.hpp>

#include <algorithm>
#include <utility>

#include <distrun/runner/mpi/waits.hpp>

namespace distrun::runner {

Ranks::Ranks(const RunContext& run_context, const PlannedTest& planned, int n, AttemptKind kind,
             const Environment& environment, std::function<void()> on_alarm)
    : run(run_context),
      test(planned),
      mpi(environment.mpi),
      all(static_cast<std::size_t>(planned.variant.world_size)),
      clocks(run_context, planned.info, all, std::move(on_alarm)),
      log(run_context, planned, n, kind, all, clocks),
      messaging(planned.variant.world_size, [this](int rank, const std::string& why) { lose_connection(rank, why); }) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].record.rank = static_cast<int>(i);
    all[i].ran_others = environment.ran_others;
    all[i].shares_process = planned.variant.isolation == Isolation::Threads;
  }
}

void Ranks::use(launch::World& made) {
  world = &made;
  messaging.use(made);
  const launch::Spread* const spread = made.spread();
  if (spread == nullptr) return;
  for (std::size_t i = 0; i < all.size() && i < spread->host_of.size(); ++i) all[i].record.host = spread->host_of[i];
  hosts_ = base::RankHosts(spread->host_of);
}

std::vector<RankView> Ranks::views() const {
  std::vector<RankView> views;
  for (const RankState& rank : all) {
    if (!rank.alive()) continue;
    RankView& view = views.emplace_back(RankView{rank.record.rank, world->shown(rank.record.rank)});
    if (mpi != nullptr) add_mpi(view, rank.record);
    if (view.shown) messaging.drop_ended_waits(view.rank, *view.shown);
  }
  return views;
}

bool Ranks::have_all_started() const {
  return std::all_of(all.begin(), all.end(), [](const RankState& rank) { return rank.started; });
}

// Programs have no board. A test shows what it waits for itself; that counts before what the server knows.
void Ranks::add_mpi(RankView& view, const RankRecord& rank) const {
  auto shown = mpi::shown_by(*mpi, {rank.rank, rank.pid, rank.phase, log.started() + rank.body_began});
  if (!view.shown) {
    view.shown = std::move(shown);
  } else if (shown && view.shown->waits.empty()) {
    view.shown->waits = std::move(shown->waits);
  }
}

void Ranks::lose_connection(int rank, const std::string& why) {
  RankState& state = at(rank);
  if (state.ended || state.done || state.decided()) return;
  state.record.outcome.text = why == "closed" ? "it closed its connection to distrun but kept running" : why;
  // The connection of a dying rank closes just before its end is reported; only a rank that lives on is lost.
  clocks.begin_loss(state, why == "closed" ? run.graces.connection : Nanoseconds::zero());
}

}  // namespace distrun::runner
