// The part of Attempt that is for programs only: their start, their output and signals passed on to them.
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/frame.hpp>
#include <distrun/runner/attempt/attempt.hpp>

namespace distrun::runner {

// A program that starts normally sends nothing.
void Attempt::handle_program(const wire::Frame& frame) {
  if (!frame.is(wire::ControlFrame::Error)) throw Error(ErrorKind::InvalidArgument, "a program must not send frames");
  on_spawn_failed(wire::decode<wire::ErrorReport>(wire::view_of(frame.payload)).text);
}

// If an error came first, the program has not started.
void Attempt::on_program(int rank) {
  if (record_.infra_error.empty()) enter_phase(at(rank), wire::Phase::Body);
  for (const int signal : std::exchange(early_signals_[rank], {})) world_->signal_process(rank, signal);
}

// A rank that has not yet become its program would be ended by the signal, so the signal is delivered later.
void Attempt::pass_on(int signal) {
  if (!test_.is_program() || !world_) return;
  for (const RankState& rank : ranks_) {
    const int number = rank.record.rank;
    if (rank.ended) continue;
    if (rank.record.phase == wire::Phase::Spawn) {
      early_signals_[number].push_back(signal);
    } else {
      world_->signal_process(number, signal);
    }
  }
}

void Attempt::on_output(int rank, launch::Stream stream, std::string_view bytes) {
  if (gate_) gate_->on_output(rank, stream, bytes);
}

}  // namespace distrun::runner
