#include <distrun/common/wire/frame.hpp>

#include <distrun/common/base/error.hpp>

namespace distrun::wire {

bool is_known(FrameKind kind) noexcept {
  switch (kind) {
    case FrameKind::Hello:
    case FrameKind::Phase:
    case FrameKind::Error:
    case FrameKind::Skip:
    case FrameKind::Stacks:
    case FrameKind::BarrierEnter:
    case FrameKind::Message:
    case FrameKind::Note:
    case FrameKind::Done:
    case FrameKind::ReceiveWait:
    case FrameKind::Leak:
    case FrameKind::ReceiveEnd:
    case FrameKind::Run:
    case FrameKind::DumpStacks:
    case FrameKind::PeerFailed:
    case FrameKind::BarrierRelease:
    case FrameKind::Finish:
    case FrameKind::PeerFinished:
    case FrameKind::Dismiss:
    case FrameKind::ProbeOrder:
    case FrameKind::ProbeTable:
    case FrameKind::ProbeProcess:
    case FrameKind::ProbeDone:
    case FrameKind::Inspect:
    case FrameKind::RunStatus:
    case FrameKind::ToldStacks:
    case FrameKind::DaemonHello:
    case FrameKind::SubmitRun:
    case FrameKind::SignalRun:
    case FrameKind::CancelRuns:
    case FrameKind::AskDaemon:
    case FrameKind::Refusal:
    case FrameKind::RunAccepted:
    case FrameKind::RunPosition:
    case FrameKind::RunStarted:
    case FrameKind::RunEnded:
    case FrameKind::RunsCancelled:
    case FrameKind::DaemonStatus: return true;
  }
  return false;
}

Bytes pack_frame(FrameKind kind, std::uint16_t rank, BytesView payload) {
  if (payload.size() > kFramePayloadMax) {
    throw Error(ErrorKind::Overloaded, "a frame of " + std::to_string(payload.size()) +
                                           " bytes is over the limit of 64 MiB");
  }
  ByteWriter writer;
  writer.number(static_cast<std::uint32_t>(payload.size()));
  writer.number(static_cast<std::uint16_t>(kind));
  writer.number(rank);
  writer.append(payload.data(), payload.size());
  return writer.take();
}

void FrameSplitter::feed(BytesView bytes) {
  if (start_ > 0) {  // compact first, so that the buffer stays within one frame and one feed
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(start_));
    start_ = 0;
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

std::optional<Frame> FrameSplitter::next() {
  while (pending() >= kFrameHeaderSize) {
    ByteReader header(view_of(buffer_.data() + start_, kFrameHeaderSize));
    const auto size = header.number<std::uint32_t>();
    const auto kind = static_cast<FrameKind>(header.number<std::uint16_t>());
    const auto rank = header.number<std::uint16_t>();
#ifndef DISTRUN_FUZZ_PLANTED_BUG
    if (size > payload_max_) {
      throw Error(ErrorKind::InvalidArgument, "a frame announces " + std::to_string(size) + " bytes; the limit is " +
                                                  std::to_string(payload_max_ >> 20) + " MiB");
    }
#endif
    if (!is_known(kind) && !is_optional(kind)) {
      throw Error(ErrorKind::InvalidArgument,
                  "what came is no message of distrun's (unknown frame kind " +
                      std::to_string(static_cast<unsigned>(kind)) + ")");
    }
    if (pending() < kFrameHeaderSize + size) return std::nullopt;
    const auto first = buffer_.begin() + static_cast<std::ptrdiff_t>(start_ + kFrameHeaderSize);
    start_ += kFrameHeaderSize + size;
    if (is_known(kind)) return Frame{kind, rank, Bytes(first, first + static_cast<std::ptrdiff_t>(size))};
  }
  return std::nullopt;
}

}  // namespace distrun::wire
