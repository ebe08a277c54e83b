#pragma once
// Frames of the control channel between a rank and its coordinator, over a stream socket:
//
//   u32 size of the payload | u16 kind | u16 rank | payload
//
// The rank is that of the sender (or, towards a rank, of the receiver), so that one connection can
// serve several ranks of a process. A kind with the high bit set is optional: who does not know it
// ignores it. Any other unknown kind ends the connection. A payload has at most 64 MiB.
#include <cstdint>
#include <optional>

#include <distrun/common/wire/buffer.hpp>
#include <distrun/common/wire/codec.hpp>

namespace distrun::wire {

inline constexpr std::size_t kFrameHeaderSize = 8;
inline constexpr std::size_t kFramePayloadMax = std::size_t{64} << 20;
inline constexpr std::uint16_t kOptionalKind = 0x8000;

enum class FrameKind : std::uint16_t {
  // rank to coordinator
  Hello = 1,
  Phase = 2,
  Error = 3,
  Skip = 4,
  Stacks = 5,   // RawStacks
  BarrierEnter = 6,
  Message = 7,  // both ways
  Note = 8 | kOptionalKind,
  Done = 9,
  ReceiveWait = 10,
  Leak = 11,
  ReceiveEnd = 12,
  // coordinator to rank
  Run = 32,
  DumpStacks = 33 | kOptionalKind,
  PeerFailed = 34,
  BarrierRelease = 35,
  Finish = 36,  // waits for no debugger any more
  PeerFinished = 37,
  Dismiss = 38,  // there is no further order: end
  // to the probe, and from it (common/wire/stacks.hpp)
  ProbeOrder = 64,
  ProbeTable = 65,
  ProbeProcess = 66,
  ProbeDone = 67,
  // to a running coordinator, and from it (common/wire/inspect.hpp)
  Inspect = 80,
  RunStatus = 81,
  ToldStacks = 82,
  // to the daemon, and from it (common/wire/daemon.hpp)
  DaemonHello = 96,
  SubmitRun = 97,
  SignalRun = 98,
  CancelRuns = 99,
  AskDaemon = 100,
  Refusal = 104,
  RunAccepted = 105,
  RunPosition = 106,
  RunStarted = 107,
  RunEnded = 108,
  RunsCancelled = 109,
  DaemonStatus = 110,
};
bool is_known(FrameKind kind) noexcept;
inline bool is_optional(FrameKind kind) noexcept {
  return (static_cast<std::uint16_t>(kind) & kOptionalKind) != 0;
}

struct Frame {
  FrameKind kind = FrameKind::Hello;
  std::uint16_t rank = 0;
  Bytes payload;
};

// Header and payload as they go over the wire. Throws Error{Overloaded} beyond the limit.
Bytes pack_frame(FrameKind kind, std::uint16_t rank, BytesView payload);
template <class T>
Bytes pack(FrameKind kind, std::uint16_t rank, const T& message) {
  return pack_frame(kind, rank, view_of(encode(message)));
}

// Cuts a byte stream into frames. Feed it what arrives, in any pieces; take frames until none is
// left. Unknown optional kinds are dropped here. Holds at most one frame beyond what was fed.
class FrameSplitter {
 public:
  // `payload_max`: of a frame that is taken; for a peer who has little to say.
  explicit FrameSplitter(std::size_t payload_max = kFramePayloadMax) noexcept : payload_max_(payload_max) {}
  void feed(BytesView bytes);
  // Throws Error{InvalidArgument} on an unknown kind or a size over the limit; the stream cannot be
  // read any further then.
  std::optional<Frame> next();
  // Bytes of a frame that is not complete yet.
  std::size_t pending() const noexcept { return buffer_.size() - start_; }

 private:
  std::size_t payload_max_;
  Bytes buffer_;
  std::size_t start_ = 0;
};

}  // namespace distrun::wire
