#include <distrun/runner/daemon/session.hpp>

#include <utility>

#include <distrun/common/base/error.hpp>

namespace distrun::daemon {
namespace {

using wire::DaemonFrame;

constexpr auto kSessionPatience = std::chrono::seconds(5);
constexpr std::size_t kQueueMax = 256 << 10;
// A client that asks without end would keep the loop from serving others.
constexpr int kQuestionsMax = 16;
constexpr int kSignalsMax = 10'000;

io::FrameSocket::Limits limits() {
  io::FrameSocket::Limits limits;
  limits.payload_max = wire::kDaemonPayloadMax;
  limits.queue_max = kQueueMax;
  limits.descriptors_max = wire::kSubmitDescriptors;
  return limits;
}

}  // namespace

Session::Session(io::Loop& loop, base::Fd socket, Handlers handlers)
    : handlers_(std::move(handlers)),
      deadline_(loop, [this] { refuse("no request arrived within 5 s"); }),
      socket_(loop, std::move(socket), wire::kProtocol<wire::DaemonFrame>,
              io::FrameSocket::Handlers{[this](const wire::Frame& frame) { on_frame(frame); },
                                        [this](const std::string&) { close(); }},
              limits()) {
  deadline_.set_after(kSessionPatience);
}

void Session::send_packed(wire::Bytes packed) {
  if (closed_) return;
  try {
    socket_.send(std::move(packed));
  } catch (const Error&) {
    close();  // the client does not read
  }
}

void Session::refuse(const std::string& why) {
  send(DaemonFrame::Refusal, wire::Refusal{why});
  handlers_.on_refusal(why);
  close();
}

void Session::close() {
  if (std::exchange(closed_, true)) return;
  deadline_.cancel();
  handlers_.on_closed();
}

void Session::on_frame(const wire::Frame& frame) {
  if (closed_) return;
  try {
    greeted_ ? take(frame) : greet(frame);
  } catch (const Error& error) {
    refuse(error.what());
  }
}

void Session::greet(const wire::Frame& frame) {
  if (!frame.is(DaemonFrame::Hello)) throw Error(ErrorKind::InvalidArgument, "the first frame is not a hello");
  const auto hello = wire::decode<wire::DaemonHello>(wire::view_of(frame.payload));
  if (hello.abi != wire::kDaemonAbi) {
    throw Error(ErrorKind::Unimplemented, "the daemon speaks version " + std::to_string(wire::kDaemonAbi) +
                                              " of its protocol, but this distrun speaks " + std::to_string(hello.abi) +
                                              "; start the distrund of this installation");
  }
  greeted_ = true;
  deadline_.set_after(kSessionPatience);
}

void Session::count_request(int limit) {
  if (++requests_ > limit) {
    throw Error(ErrorKind::Overloaded, "more than " + std::to_string(limit) + " requests on one connection");
  }
  if (!has_run_) deadline_.set_after(kSessionPatience);
}

void Session::take(const wire::Frame& frame) {
  const wire::BytesView payload = wire::view_of(frame.payload);
  switch (frame.kind_as<DaemonFrame>()) {
    case DaemonFrame::SubmitRun: return submit(frame);
    case DaemonFrame::SignalRun: {
      count_request(kSignalsMax);
      const auto signal = wire::decode<wire::RunSignal>(payload);
      if (!has_run_ || !wire::may_be_sent(signal)) {
        throw Error(ErrorKind::InvalidArgument, "signal " + std::to_string(signal.number) + " cannot be sent");
      }
      return handlers_.on_signal(signal.number);
    }
    case DaemonFrame::CancelRuns:
      count_request(kQuestionsMax);
      return handlers_.on_cancel(wire::decode<wire::CancelOrder>(payload).run);
    case DaemonFrame::AskStatus: count_request(kQuestionsMax); return handlers_.on_question();
    default: throw Error(ErrorKind::InvalidArgument, "the frame is not a request to a daemon");
  }
}

void Session::submit(const wire::Frame& frame) {
  if (has_run_) throw Error(ErrorKind::InvalidArgument, "only one run per connection is allowed");
  auto submission = wire::decode<wire::Submission>(wire::view_of(frame.payload));
  wire::check(submission);
  std::vector<base::Fd> descriptors = socket_.take_descriptors();
  if (descriptors.size() != wire::kSubmitDescriptors) {
    throw Error(ErrorKind::InvalidArgument, "a run must have " + std::to_string(wire::kSubmitDescriptors) +
                                                " descriptors, not " + std::to_string(descriptors.size()));
  }
  deadline_.cancel();
  has_run_ = true;
  handlers_.on_submit(std::move(submission), std::move(descriptors));
}

}  // namespace distrun::daemon
