#include <distrun/runner/attempt/output_gate.hpp>

namespace distrun::runner {
namespace {

constexpr auto kMoment = std::chrono::milliseconds(2);

}  // namespace

OutputGate::OutputGate(io::Loop& loop, OutputSink& sink, launch::World& world)
    : sink_(sink), world_(world), alarm_(loop, [this] { look(); }) {}

OutputGate::~OutputGate() {
  if (held_) world_.hold_output(false);
}

void OutputGate::on_output(int rank, Stream stream, std::string_view bytes) {
  sink_.on_output(rank, stream, bytes);
  if (held_ || !sink_.is_full()) return;
  held_ = true;
  world_.hold_output(true);
  alarm_.set_after(kMoment);
}

void OutputGate::look() {
  held_ = sink_.is_full();
  if (held_) return alarm_.set_after(kMoment);
  world_.hold_output(false);
}

}  // namespace distrun::runner
