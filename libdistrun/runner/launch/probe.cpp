#include <distrun/runner/launch/probe.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/stacks.hpp>
#include <distrun/runner/evidence/proc/task_state.hpp>

namespace distrun::launch {

base::Nanoseconds extension_of(base::Nanoseconds bound, base::Nanoseconds waited, base::Nanoseconds extended) {
  constexpr int kMost = 2;         // multiples of the bound
  constexpr int kNoticeable = 10;  // fraction of the bound
  const base::Nanoseconds more = std::min(waited, kMost * bound) - extended;
  return more > bound / kNoticeable ? more : base::Nanoseconds::zero();
}
Probe::Probe(io::Loop& loop, const Program& program, const wire::ProbeOrder& order, base::Nanoseconds bound,
             std::function<void(ProbeResult)> on_result)
    : loop_(loop), bound_(bound), on_result_(std::move(on_result)), alarm_(loop, [this] { on_bound(); }) {
  std::string failure;
  try {
    start(program, order);
  } catch (const Error& error) {
    failure = error.what();
  }
  // Reported from the loop, like every result.
  if (!failure.empty()) bound_ = base::Nanoseconds::zero();
  alarm_.set_after(bound_);
}

void Probe::start(const Program& program, const wire::ProbeOrder& order) {
  base::FdPair line = base::make_socket_pair(SOCK_STREAM);
  HelperProcess::Spec spec;
  spec.program = program.path;
  spec.environment = program.environment;
  spec.line = line.second.get();
  process_ = std::make_unique<HelperProcess>(loop_, spec, [](proc::ExitStatus) {});
  socket_ =
      std::make_unique<io::FrameSocket>(loop_, std::move(line.first), wire::kProtocol<wire::ProbeFrame>,
                                        io::FrameSocket::Handlers{[this](const wire::Frame& frame) { on_frame(frame); },
                                                                  [this](const std::string&) { on_closed(); }});
  socket_->send(wire::pack(wire::ProbeFrame::Order, 0, order));
}

void Probe::on_frame(const wire::Frame& frame) {
  if (over_) return;
  const wire::BytesView payload = wire::view_of(frame.payload);
  try {
    switch (frame.kind_as<wire::ProbeFrame>()) {
      case wire::ProbeFrame::Table: return builder_.add(wire::decode<wire::StackTable>(payload));
      case wire::ProbeFrame::Process: return take(wire::decode<wire::ProcessStacks>(payload));
      case wire::ProbeFrame::Done: {
        const auto done = wire::decode<wire::ProbeDone>(payload);
        descendants_left_ = std::max(0, done.descendants_left);
        return finish(done.error);
      }
      default: return;
    }
  } catch (const Error& error) {
    finish(std::string("the probe sent an invalid message: ") + error.what());
  }
}

void Probe::take(wire::ProcessStacks process) {
  constexpr std::size_t kMost = 4096;
  if (process.descendant_of >= 0 && descendant_of_.size() < kMost) {
    descendant_of_[process.index] = process.descendant_of;
  }
  builder_.add(std::move(process));
}

void Probe::on_closed() { finish("the probe ended before its work was complete" + process_->last_words()); }

void Probe::on_bound() {
  const base::Nanoseconds waited = process_ ? evidence::cpu_wait_of(process_->pid()) : base::Nanoseconds::zero();
  const base::Nanoseconds more = extension_of(bound_, waited, extended_);
  if (more.count() > 0) {
    extended_ += more;
    return alarm_.set_after(more);
  }
  finish(process_ ? "the probe did not finish within " + base::human(bound_) : "the probe could not be started");
}

void Probe::finish(std::string error) {
  if (over_) return;
  over_ = true;
  alarm_.cancel();
  if (process_) process_->kill();
  ProbeResult result{builder_.take(), std::move(error), extended_, std::move(descendant_of_)};
  result.stacks.descendants_left = descendants_left_;
  // Posted, since the callback may destroy this probe, which must not happen inside the socket's handler.
  loop_.post([this, alive = std::weak_ptr(alive_), result = std::move(result)]() mutable {
    if (alive.expired()) return;
    const auto on_result = std::move(on_result_);  // it may destroy this probe
    on_result(std::move(result));
  });
}

}  // namespace distrun::launch
