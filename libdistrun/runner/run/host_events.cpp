#include <distrun/runner/run/host_events.hpp>

#include <utility>

#include <distrun/runner/record/look.hpp>

namespace distrun::runner {
namespace {

void name_host(Look& look) {
  for (RankView& view : look.ranks) view.rank = kHostRank;
  for (evidence::Process& process : look.stacks.processes) process.rank = kHostRank;
  look.text = describe(look);
}

}  // namespace

void name_host(AttemptRecord& attempt) {
  for (RankRecord& rank : attempt.ranks) rank.rank = kHostRank;
  for (int& culprit : attempt.culprits) culprit = kHostRank;
  for (Look& look : attempt.looks) name_host(look);
}

std::function<void(const Look&)> naming_host(std::function<void(const Look&)> on_look) {
  if (!on_look) return on_look;
  return [on_look = std::move(on_look)](const Look& look) {
    Look named = look;
    name_host(named);
    on_look(named);
  };
}

void HostEvents::on_rank_start(const std::string&, int attempt, int, int pid) {
  sink_.on_rank_start(id_, attempt, kHostRank, pid);
}

void HostEvents::on_rank_phase(const std::string&, int attempt, int, wire::Phase phase) {
  sink_.on_rank_phase(id_, attempt, kHostRank, phase);
}

void HostEvents::on_rank_error(const std::string&, int attempt, int, const RankError& error) {
  sink_.on_rank_error(id_, attempt, kHostRank, error);
}

void HostEvents::on_look(const std::string&, int attempt, const Look& look) {
  Look named = look;
  name_host(named);
  sink_.on_look(id_, attempt, named);
}

void HostEvents::on_rank_end(const std::string&, int attempt, const RankRecord& rank) {
  RankRecord named = rank;
  named.rank = kHostRank;
  sink_.on_rank_end(id_, attempt, named);
}

}  // namespace distrun::runner
