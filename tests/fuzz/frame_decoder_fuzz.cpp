// A stream of frames to a rank, its coordinator, the probe or a running distrun. The first byte tells how the rest, the
// stream, is cut into pieces. Frames must not depend on the pieces, and each payload is read or refused as the message
// of its kind.
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/common/wire/control.hpp>
#include <distrun/common/wire/frame.hpp>
#include <distrun/common/wire/inspect.hpp>
#include <distrun/common/wire/stacks.hpp>

#include "fuzz.hpp"

namespace {

using namespace distrun;
using fuzz::require;
using wire::ControlFrame;
using wire::InspectFrame;
using wire::ProbeFrame;

template <class T>
void round_trip(const wire::Bytes& payload) {
  T message;
  try {
    message = wire::decode<T>(wire::view_of(payload));
  } catch (const Error&) {
    return;
  }
  const wire::Bytes once = wire::encode(message);
  require(once.size() == payload.size(), "a message that was read takes as many bytes when it is written");
  require(wire::encode(wire::decode<T>(wire::view_of(once))) == once, "what was written is read as it is");
}

void decode_control(const wire::Frame& frame) {
  switch (frame.kind_as<ControlFrame>()) {
    case ControlFrame::Hello: return round_trip<wire::Hello>(frame.payload);
    case ControlFrame::Phase: return round_trip<wire::PhaseChange>(frame.payload);
    case ControlFrame::Error: return round_trip<wire::ErrorReport>(frame.payload);
    case ControlFrame::Skip: return round_trip<wire::SkipReport>(frame.payload);
    case ControlFrame::Stacks: return round_trip<wire::RawStacks>(frame.payload);
    case ControlFrame::BarrierEnter: return round_trip<wire::BarrierEnter>(frame.payload);
    case ControlFrame::Message: return round_trip<wire::RankMessage>(frame.payload);
    case ControlFrame::Note: return round_trip<wire::Note>(frame.payload);
    case ControlFrame::Measure: return round_trip<wire::Measure>(frame.payload);
    case ControlFrame::Done: return round_trip<wire::Done>(frame.payload);
    case ControlFrame::ReceiveEnd:
    case ControlFrame::ReceiveWait: return round_trip<wire::ReceiveWait>(frame.payload);
    case ControlFrame::Leak: return round_trip<wire::LeakReport>(frame.payload);
    case ControlFrame::Run: return round_trip<wire::RunOrder>(frame.payload);
    case ControlFrame::PeerFailed: return round_trip<wire::PeerFailed>(frame.payload);
    case ControlFrame::BarrierRelease: return round_trip<wire::BarrierRelease>(frame.payload);
    case ControlFrame::PeerFinished: return round_trip<wire::PeerFinished>(frame.payload);
    default: return;
  }
}

void decode_probe(const wire::Frame& frame) {
  switch (frame.kind_as<ProbeFrame>()) {
    case ProbeFrame::Order: return round_trip<wire::ProbeOrder>(frame.payload);
    case ProbeFrame::Table: return round_trip<wire::StackTable>(frame.payload);
    case ProbeFrame::Process: return round_trip<wire::ProcessStacks>(frame.payload);
    case ProbeFrame::Done: return round_trip<wire::ProbeDone>(frame.payload);
  }
}

void decode_inspect(const wire::Frame& frame) {
  switch (frame.kind_as<InspectFrame>()) {
    case InspectFrame::Order: return round_trip<wire::InspectOrder>(frame.payload);
    case InspectFrame::RunStatus: return round_trip<wire::RunStatus>(frame.payload);
    case InspectFrame::ToldStacks: return round_trip<wire::ToldStacks>(frame.payload);
  }
}

// Everything that the stream yields: its frames, and how it ends.
struct Heard {
  std::vector<wire::Frame> frames;
  std::string refusal;

  // Returns false once the stream is refused.
  bool take(wire::FrameSplitter& splitter) {
    try {
      while (auto frame = splitter.next()) frames.push_back(std::move(*frame));
      return true;
    } catch (const Error& error) {
      refusal = error.what();
      return false;
    }
  }
};

bool same(const Heard& a, const Heard& b) {
  if (a.refusal != b.refusal || a.frames.size() != b.frames.size()) return false;
  for (std::size_t i = 0; i < a.frames.size(); ++i) {
    const wire::Frame& x = a.frames[i];
    const wire::Frame& y = b.frames[i];
    if (x.kind != y.kind || x.rank != y.rank || x.payload != y.payload) return false;
  }
  return true;
}

Heard hear_in_pieces(const wire::Protocol& protocol, wire::BytesView stream, std::uint64_t seed) {
  base::Rng rng(seed);
  wire::FrameSplitter splitter(protocol);
  Heard heard;
  while (!stream.empty()) {
    const std::size_t size = std::min<std::size_t>(seed == 0 ? 1 : 1 + rng.below(2 * seed), stream.size());
    splitter.feed(stream.substr(0, size));
    stream.remove_prefix(size);
    if (!heard.take(splitter)) break;
  }
  return heard;
}

// The first frame over the limit must end the stream, unless something before it has.
bool announces_too_much(wire::BytesView stream) {
  while (stream.size() >= wire::kFrameHeaderSize) {
    wire::ByteReader header(stream);
    const auto size = header.number<std::uint32_t>();
    if (size > wire::kFramePayloadMax) return true;
    stream.remove_prefix(std::min(wire::kFrameHeaderSize + size, stream.size()));
  }
  return false;
}

void check(const wire::Protocol& protocol, void (*decode)(const wire::Frame&), wire::BytesView stream, int seed) {
  wire::FrameSplitter splitter(protocol);
  splitter.feed(stream);
  Heard whole;
  if (whole.take(splitter)) {
    require(!announces_too_much(stream), "a frame over the limit is refused");
    require(splitter.pending() <= stream.size(), "a splitter holds no more than it was fed");
  }
  require(same(whole, hear_in_pieces(protocol, stream, static_cast<std::uint64_t>(seed))),
          "frames do not depend on the pieces of their stream");
  for (const wire::Frame& frame : whole.frames) {
    require(protocol.knows(frame.kind), "only known kinds pass the splitter");
    decode(frame);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const wire::BytesView stream = wire::view_of(data + 1, size - 1);
  check(wire::kProtocol<ControlFrame>, decode_control, stream, data[0]);
  check(wire::kProtocol<ProbeFrame>, decode_probe, stream, data[0]);
  check(wire::kProtocol<InspectFrame>, decode_inspect, stream, data[0]);
  return 0;
}
