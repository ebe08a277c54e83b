#include <distrun/runner/attempt/mpi_ranks.hpp>

#include <algorithm>

namespace distrun::runner {

MpiRanks::MpiRanks(Ranks& ranks, Course& course) : ranks_(ranks), course_(course) {
  if (ranks_.run.mpi != nullptr) ranks_.run.mpi->report_to(this);
}

MpiRanks::~MpiRanks() {
  if (ranks_.run.mpi != nullptr) ranks_.run.mpi->report_to(nullptr);
}

// Its exit code follows from the call.
void MpiRanks::on_abort(int rank, int code) {
  if (!ranks_.has(rank) || course_.state() == Course::State::Over) return;
  RankState& state = ranks_.at(rank);
  if (!state.alive() || state.decided() || state.signaled_by_us) return;
  course_.failures().fail(state, {OutcomeKind::Failed, code, "called MPI_Abort(" + std::to_string(code) + ")"});
}

// Ranks that have left need it no more, and do not notice.
void MpiRanks::on_server_lost(const std::string& why) {
  const bool is_needed = std::any_of(ranks_.all.begin(), ranks_.all.end(), [this](const RankState& rank) {
    return !rank.ended && ranks_.run.mpi->member(rank.record.rank).stage != mpi::Stage::Left;
  });
  if (is_needed && course_.state() != Course::State::Over) course_.fail_to_start(why);
}

}  // namespace distrun::runner
