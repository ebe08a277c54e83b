// A client's stream of frames to the daemon. Any input is read or refused; an accepted submission can be started: it is
// within the limits, and no text is cut.
#include <optional>

#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/daemon.hpp>
#include <distrun/common/wire/frame.hpp>

#include "fuzz.hpp"

namespace {

using namespace distrun;
using fuzz::require;
using wire::DaemonFrame;

// Returns nullopt if the frame is refused.
template <class T>
std::optional<T> read(const wire::Frame& frame) {
  try {
    T message = wire::decode<T>(wire::view_of(frame.payload));
    require(wire::encode(message).size() == frame.payload.size(), "a message that was read takes as many bytes again");
    return message;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::size_t bytes_of(const std::vector<std::string>& texts) {
  std::size_t bytes = 0;
  for (const std::string& text : texts) {
    require(text.find('\0') == std::string::npos, "no text that is passed on holds a zero byte");
    bytes += text.size() + 1;
  }
  return bytes;
}

void submit(const wire::Frame& frame) {
  const auto submission = read<wire::Submission>(frame);
  if (!submission) return;
  try {
    wire::check(*submission);
  } catch (const Error&) {
    return;
  }
  require(!submission->arguments.empty(), "a run has a program's name");
  require(submission->arguments.size() <= wire::kArgumentsMax, "arguments are bounded");
  require(bytes_of(submission->arguments) <= wire::kArgumentsBytesMax, "bytes of arguments are bounded");
  require(bytes_of(submission->environment) <= wire::kEnvironmentBytesMax, "bytes of the environment are bounded");
  require(submission->file_mask <= 0777, "a umask is one");
}

void signal(const wire::Frame& frame) {
  const auto order = read<wire::RunSignal>(frame);
  if (order && wire::may_be_sent(*order)) require(order->number > 0 && order->number < 32, "a signal is one");
}

void take(const wire::Frame& frame) {
  switch (frame.kind_as<DaemonFrame>()) {
    case DaemonFrame::Hello: read<wire::DaemonHello>(frame); return;
    case DaemonFrame::SubmitRun: return submit(frame);
    case DaemonFrame::SignalRun: return signal(frame);
    case DaemonFrame::CancelRuns: read<wire::CancelOrder>(frame); return;
    case DaemonFrame::Refusal: read<wire::Refusal>(frame); return;
    case DaemonFrame::RunAccepted: read<wire::RunAccepted>(frame); return;
    case DaemonFrame::RunPosition: read<wire::RunPosition>(frame); return;
    case DaemonFrame::RunStarted: read<wire::RunStarted>(frame); return;
    case DaemonFrame::RunEnded: read<wire::RunEnded>(frame); return;
    case DaemonFrame::RunsCancelled: read<wire::RunsCancelled>(frame); return;
    case DaemonFrame::Status: read<wire::DaemonStatus>(frame); return;
    default: return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  wire::FrameSplitter splitter(wire::kProtocol<wire::DaemonFrame>, wire::kDaemonPayloadMax);
  splitter.feed(wire::view_of(data, size));
  try {
    while (const auto frame = splitter.next()) {
      require(frame->payload.size() <= wire::kDaemonPayloadMax, "a frame to the daemon is bounded");
      take(*frame);
    }
  } catch (const Error&) {
    return 0;  // the connection ends
  }
  require(splitter.pending() < wire::kFrameHeaderSize + wire::kDaemonPayloadMax, "a part of a frame is bounded");
  return 0;
}
