#include <distrun/runner/daemon/submitted_run.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/packet.hpp>

namespace distrun::daemon {
namespace {

using wire::DaemonFrame;

// Sends the hello with the descriptors. It is small, so it is sent at once.
base::Fd greeted(base::Fd socket) {
  const base::Fd directory(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) base::throw_errno("cannot open the current directory", errno);
  const std::array<int, wire::kSubmitDescriptors> along{STDOUT_FILENO, STDERR_FILENO, directory.get()};
  const wire::Bytes hello = wire::pack(DaemonFrame::Hello, 0, wire::DaemonHello{});
  try {
    wire::send_packet(socket.get(), wire::view_of(hello), along);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Disconnected) throw;  // otherwise reading will show why it was closed
  }
  return socket;
}

template <class T>
T read(const wire::Frame& frame) {
  return wire::decode<T>(wire::view_of(frame.payload));
}

}  // namespace

SubmittedRun::SubmittedRun(io::Loop& loop, base::Fd socket, const wire::Submission& order, Handlers handlers)
    : handlers_(std::move(handlers)),
      socket_(loop, greeted(std::move(socket)), wire::kProtocol<wire::DaemonFrame>,
              io::FrameSocket::Handlers{[this](const wire::Frame& frame) { on_frame(frame); },
                                        [this](const std::string&) { on_closed(); }}) {
  socket_.send(wire::pack(DaemonFrame::SubmitRun, 0, order));
}

void SubmittedRun::signal(int number) { socket_.send(wire::pack(DaemonFrame::SignalRun, 0, wire::RunSignal{number})); }

void SubmittedRun::on_closed() {
  if (!std::exchange(over_, true)) handlers_.on_lost();
}

void SubmittedRun::on_frame(const wire::Frame& frame) {
  if (over_) return;
  try {
    take(frame);
  } catch (const Error& error) {
    over_ = true;
    handlers_.on_refused(std::string("the daemon sent an invalid answer: ") + error.what());
  }
}

void SubmittedRun::take(const wire::Frame& frame) {
  switch (frame.kind_as<DaemonFrame>()) {
    case DaemonFrame::RunAccepted: {
      const auto accepted = read<wire::RunAccepted>(frame);
      run_id_ = accepted.run_id;
      if (accepted.ahead > 0) handlers_.on_waiting(accepted.ahead);
      return;
    }
    case DaemonFrame::RunPosition: return handlers_.on_waiting(read<wire::RunPosition>(frame).ahead);
    case DaemonFrame::RunStarted: pid_ = read<wire::RunStarted>(frame).pid; return handlers_.on_started();
    case DaemonFrame::RunEnded: {
      const auto ended = read<wire::RunEnded>(frame);
      over_ = true;
      return handlers_.on_ended(ended);
    }
    case DaemonFrame::Refusal: {
      const auto refusal = read<wire::Refusal>(frame);
      over_ = true;
      return handlers_.on_refused(refusal.text);
    }
    default: throw Error(ErrorKind::InvalidArgument, "a frame of another kind");
  }
}

}  // namespace distrun::daemon
