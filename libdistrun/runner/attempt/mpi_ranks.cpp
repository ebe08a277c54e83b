#include <distrun/runner/attempt/mpi_ranks.hpp>

#include <algorithm>

namespace distrun::runner {

MpiRanks::MpiRanks(Ranks& ranks, Course& course) : ranks_(ranks), course_(course) {
  if (ranks_.mpi != nullptr) ranks_.mpi->report_to(this);
}

MpiRanks::~MpiRanks() {
  if (ranks_.mpi != nullptr) ranks_.mpi->report_to(nullptr);
}

// Its exit code follows from the call.
void MpiRanks::on_abort(int rank, int code, const std::string& child) {
  const std::string call = "called MPI_Abort(" + std::to_string(code) + ")";
  fail(rank, code, child.empty() ? call : child + ", which it has spawned, " + call);
}

// The others wait for that process, or for the rank that has spawned it.
void MpiRanks::on_child_died(int rank, const std::string& program, proc::ExitStatus status) {
  fail(rank, 1, program + ", which it has spawned, " + status.describe());
}

void MpiRanks::fail(int rank, int code, const std::string& why) {
  if (!ranks_.has(rank) || course_.state() == Course::State::Over) return;
  RankState& state = ranks_.at(rank);
  if (!state.alive() || state.decided() || state.signaled_by_us) return;
  course_.failures().fail(state, {OutcomeKind::Failed, code, why});
}

void MpiRanks::on_spawned(int rank, const std::string& program, const std::vector<int>& pids,
                          const std::string& error) {
  if (!ranks_.has(rank) || course_.state() == Course::State::Over) return;
  for (const int pid : pids) ranks_.spawned.push_back({ranks_.at(rank).record.pid, pid});
  const std::string count = std::to_string(pids.size()) + (pids.size() == 1 ? " process" : " processes");
  const std::string what = error.empty() ? "has spawned " + program + " (" + count + ")" : error;
  ranks_.log.add_note(rank, {"MPI_Comm_spawn", what});
}

void MpiRanks::on_refusal(int rank, const std::string& call) {
  if (!ranks_.has(rank) || course_.state() == Course::State::Over) return;
  ranks_.log.add_note(rank, {"MPI", call + " returned an error: distrun does not support it"});
}

// Ranks that have left need it no more, and do not notice.
void MpiRanks::on_server_lost(const std::string& why) {
  const bool is_needed = std::any_of(ranks_.all.begin(), ranks_.all.end(), [this](const RankState& rank) {
    return !rank.ended && ranks_.mpi->member(rank.record.rank).stage != mpi::Stage::Left;
  });
  if (is_needed && course_.state() != Course::State::Over) course_.fail_to_start(why);
}

}  // namespace distrun::runner
