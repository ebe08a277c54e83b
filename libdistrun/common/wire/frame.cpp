#include <distrun/common/wire/frame.hpp>

#include <algorithm>

#include <distrun/common/base/error.hpp>

namespace distrun::wire {
namespace {

constexpr std::size_t kKeptCapacity = 256 << 10;  // bytes of memory that a stream of small frames uses again

}  // namespace

Bytes pack_frame(std::uint16_t kind, std::uint16_t rank, BytesView payload) {
  if (payload.size() > kFramePayloadMax) {
    throw Error(ErrorKind::Overloaded,
                "a frame of " + std::to_string(payload.size()) + " bytes is over the limit of 64 MiB");
  }
  ByteWriter writer;
  writer.number(static_cast<std::uint32_t>(payload.size()));
  writer.number(kind);
  writer.number(rank);
  writer.append(payload.data(), payload.size());
  return writer.take();
}

// Compacts first, so that the buffer holds at most one frame and one feed. A large frame grows it in steps, but not
// beyond the frame's end.
void FrameSplitter::feed(BytesView bytes) {
  forget_taken();
  const std::size_t needed = buffer_.size() + bytes.size();
  if (needed > buffer_.capacity()) buffer_.reserve(std::max(needed, std::min(announced(), 2 * buffer_.capacity())));
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

std::size_t FrameSplitter::announced() const noexcept {
  if (pending() < kFrameHeaderSize) return 0;
  ByteReader header(view_of(buffer_.data() + start_, kFrameHeaderSize));
  return kFrameHeaderSize + header.number<std::uint32_t>();
}

void FrameSplitter::forget_taken() {
  if (start_ == 0) return;
  const auto rest = buffer_.begin() + static_cast<std::ptrdiff_t>(start_);
  if (buffer_.capacity() > kKeptCapacity && pending() <= kKeptCapacity) {
    buffer_ = Bytes(rest, buffer_.end());
  } else {
    buffer_.erase(buffer_.begin(), rest);
  }
  start_ = 0;
}

std::optional<Frame> FrameSplitter::next() {
  while (pending() >= kFrameHeaderSize) {
    ByteReader header(view_of(buffer_.data() + start_, kFrameHeaderSize));
    const auto size = header.number<std::uint32_t>();
    const auto kind = header.number<std::uint16_t>();
    const bool is_known = protocol_.knows(kind);
    const auto rank = header.number<std::uint16_t>();
#ifndef DISTRUN_FUZZ_PLANTED_BUG
    if (size > payload_max_) {
      throw Error(ErrorKind::InvalidArgument, "a frame announces " + std::to_string(size) + " bytes; the limit is " +
                                                  std::to_string(payload_max_ >> 20) + " MiB");
    }
#endif
    if (!is_known && !is_optional(kind)) {
      throw Error(ErrorKind::InvalidArgument,
                  "the received bytes are not a distrun message (unknown frame kind " + std::to_string(kind) + ")");
    }
    if (pending() < kFrameHeaderSize + size) return std::nullopt;
    const auto first = buffer_.begin() + static_cast<std::ptrdiff_t>(start_ + kFrameHeaderSize);
    std::optional<Frame> frame;
    if (is_known) frame = Frame{kind, rank, Bytes(first, first + static_cast<std::ptrdiff_t>(size))};
    start_ += kFrameHeaderSize + size;  // a frame that found no memory is still there
    if (pending() == 0) forget_taken();
    if (frame) return frame;
  }
  return std::nullopt;
}

}  // namespace distrun::wire
