#include <distrun/runner/attempt/programs.hpp>

#include <utility>

namespace distrun::runner {

void Programs::show_output(launch::World& world) {
  if (ranks_.run.output != nullptr && !ranks_.test.is_host()) {
    gate_.emplace(ranks_.run.loop, *ranks_.run.output, world);
  }
}

// If an error came first, the program has not started.
void Programs::on_program(int rank) {
  if (ranks_.log.record().infra_error.empty()) ranks_.log.enter_phase(ranks_.at(rank), wire::Phase::Body);
  for (const int signal : std::exchange(early_signals_[rank], {})) ranks_.world->signal_process(rank, signal);
}

// A rank that has not yet become its program would be ended by the signal, so the signal is delivered later.
void Programs::pass_on(int signal) {
  if (!ranks_.test.is_program() || ranks_.world == nullptr) return;
  for (const RankState& rank : ranks_.all) {
    const int number = rank.record.rank;
    if (rank.ended) continue;
    if (rank.record.phase == wire::Phase::Spawn) {
      early_signals_[number].push_back(signal);
    } else {
      ranks_.world->signal_process(number, signal);
    }
  }
}

void Programs::on_output(int rank, launch::Stream stream, std::string_view bytes) {
  if (gate_) gate_->on_output(rank, stream, bytes);
}

}  // namespace distrun::runner
