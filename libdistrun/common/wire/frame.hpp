#pragma once
// Frames: messages on a stream socket.
//
//   u32 size of the payload | u16 kind | u16 rank | payload
//
// A kind with the high bit set is optional: a peer that does not know it ignores it. Any other unknown kind ends the
// connection. The rank is 0 in protocols without ranks. A payload has at most 64 MiB.
#include <cstdint>
#include <optional>
#include <utility>

#include <distrun/common/wire/buffer.hpp>
#include <distrun/common/wire/codec.hpp>

namespace distrun::wire {

inline constexpr std::size_t kFrameHeaderSize = 8;
inline constexpr std::size_t kFramePayloadMax = std::size_t{64} << 20;
inline constexpr std::uint16_t kOptionalKind = 0x8000;

inline bool is_optional(std::uint16_t kind) noexcept { return (kind & kOptionalKind) != 0; }

// A protocol is an enumeration of its kinds, and an is_known() for it; each is defined with its messages: ControlFrame,
// ProbeFrame, InspectFrame, DaemonFrame. Their numbers differ, so that a frame for another protocol is not misread.
struct Protocol {
  bool (*knows)(std::uint16_t kind) noexcept;
};
template <class Kind>
inline constexpr Protocol kProtocol{[](std::uint16_t kind) noexcept { return is_known(static_cast<Kind>(kind)); }};

struct Frame {
  Frame() = default;
  template <class Kind>
  Frame(Kind of_kind, std::uint16_t of_rank, Bytes bytes)
      : kind(static_cast<std::uint16_t>(of_kind)), rank(of_rank), payload(std::move(bytes)) {}

  std::uint16_t kind = 0;
  std::uint16_t rank = 0;
  Bytes payload;

  // Requires a frame of the protocol `Kind`.
  template <class Kind>
  Kind kind_as() const noexcept {
    return static_cast<Kind>(kind);
  }
  template <class Kind>
  bool is(Kind other) const noexcept {
    return kind == static_cast<std::uint16_t>(other);
  }
};

// Returns header and payload as sent. Throws Error{Overloaded} beyond the limit.
Bytes pack_frame(std::uint16_t kind, std::uint16_t rank, BytesView payload);
template <class Kind>
Bytes pack_frame(Kind kind, std::uint16_t rank, BytesView payload) {
  return pack_frame(static_cast<std::uint16_t>(kind), rank, payload);
}
template <class Kind, class T>
Bytes pack(Kind kind, std::uint16_t rank, const T& message) {
  return pack_frame(kind, rank, view_of(encode(message)));
}

// Cuts a byte stream into frames. Feed it the received bytes, in any pieces; take frames until none is left. Drops
// unknown optional kinds. Holds at most one frame beyond what was fed; the memory of a large one is freed when it is
// taken.
class FrameSplitter {
 public:
  // `payload_max`: of an accepted frame; smaller for peers with short messages.
  explicit FrameSplitter(const Protocol& protocol, std::size_t payload_max = kFramePayloadMax) noexcept
      : protocol_(protocol), payload_max_(payload_max) {}
  void feed(BytesView bytes);
  // Throws Error{InvalidArgument} on a kind that the protocol does not know, or a size over the limit; then the stream
  // cannot be read any further.
  std::optional<Frame> next();
  // Returns the number of bytes of an incomplete frame.
  std::size_t pending() const noexcept { return buffer_.size() - start_; }
  // Returns the size of the incomplete frame with its header; 0 if that has not arrived yet.
  std::size_t announced() const noexcept;
  // Returns the bytes of memory that it holds.
  std::size_t capacity() const noexcept { return buffer_.capacity(); }

 private:
  void forget_taken();

  Protocol protocol_;
  std::size_t payload_max_;
  Bytes buffer_;
  std::size_t start_ = 0;
};

}  // namespace distrun::wire
