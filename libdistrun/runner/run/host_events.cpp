#include <distrun/runner/run/host_events.hpp>

#include <utility>

#include <distrun/runner/record/snapshot.hpp>

namespace distrun::runner {
namespace {

void name_host(Snapshot& snapshot) {
  for (RankView& view : snapshot.ranks) view.rank = kHostRank;
  for (evidence::Process& process : snapshot.stacks.processes) {
    if (process.of_rank < 0) process.rank = kHostRank;
  }
  snapshot.text = describe(snapshot);
}

}  // namespace

void name_host(AttemptRecord& attempt) {
  for (RankRecord& rank : attempt.ranks) rank.rank = kHostRank;
  for (int& culprit : attempt.culprits) culprit = kHostRank;
  for (Snapshot& snapshot : attempt.snapshots) name_host(snapshot);
}

std::function<void(const Snapshot&)> naming_host(std::function<void(const Snapshot&)> on_snapshot) {
  if (!on_snapshot) return on_snapshot;
  return [on_snapshot = std::move(on_snapshot)](const Snapshot& snapshot) {
    Snapshot named = snapshot;
    name_host(named);
    on_snapshot(named);
  };
}

void HostEvents::on_rank_start(const std::string&, int attempt, const RankRecord& rank) {
  RankRecord named = rank;
  named.rank = kHostRank;
  sink_.on_rank_start(id_, attempt, named);
}

void HostEvents::on_rank_phase(const std::string&, int attempt, int, wire::Phase phase) {
  sink_.on_rank_phase(id_, attempt, kHostRank, phase);
}

void HostEvents::on_rank_error(const std::string&, int attempt, int, const RankError& error) {
  sink_.on_rank_error(id_, attempt, kHostRank, error);
}

void HostEvents::on_snapshot(const std::string&, int attempt, const Snapshot& snapshot) {
  Snapshot named = snapshot;
  name_host(named);
  sink_.on_snapshot(id_, attempt, named);
}

void HostEvents::on_rank_end(const std::string&, int attempt, const RankRecord& rank) {
  RankRecord named = rank;
  named.rank = kHostRank;
  sink_.on_rank_end(id_, attempt, named);
}

}  // namespace distrun::runner
