#include "frames.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include <distrun/common/wire/stacks.hpp>

namespace distrun::probe::python {
namespace {

// A recursion is that deep only if the program has raised Python's limit of 1000 a lot.
constexpr std::size_t kFramesMax = 20'000;

struct RawFrame {
  Address address = 0;
  Address previous = 0;
  Address code = 0;
  std::int64_t instruction = 0;
  bool is_entry = false;
  bool is_shim = false;
};

class Bytes {
 public:
  bool read(ForeignMemory& memory, Address address, std::size_t size) {
    return memory.read(address, bytes_.data(), size);
  }
  template <class Value>
  Value at(std::int32_t offset) const {
    Value value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

 private:
  std::array<std::byte, kFrameSize> bytes_{};
};

std::optional<RawFrame> read_frame(ForeignMemory& memory, const Layout& layout, Address address) {
  Bytes bytes;
  const bool is_object = layout.frame_kind == FrameKind::Object;
  // A shim has no values, and lies on a native stack.
  const auto size = static_cast<std::size_t>(is_object ? kFrameSize : layout.frame_head);
  if (!bytes.read(memory, address, size)) return std::nullopt;
  RawFrame frame;
  frame.address = address;
  frame.previous = bytes.at<Address>(layout.frame_previous);
  frame.code = bytes.at<Address>(layout.frame_code);
  frame.instruction =
      is_object ? bytes.at<std::int32_t>(layout.frame_instruction) : bytes.at<std::int64_t>(layout.frame_instruction);
  switch (layout.frame_kind) {
    case FrameKind::Object: frame.is_entry = true; break;
    case FrameKind::Marked: frame.is_entry = bytes.at<std::uint8_t>(layout.frame_kind_at) != 0; break;
    case FrameKind::Shim: frame.is_shim = bytes.at<std::uint8_t>(layout.frame_kind_at) == kOwnedByNativeStack; break;
  }
  return frame;
}

// The frames to be shown, as far as they are known before their code is read.
struct Kept {
  std::vector<RawFrame> inner;
  std::deque<RawFrame> outer;
  bool gap = false;

  RawFrame* last() {
    if (!outer.empty()) return &outer.back();
    return inner.empty() ? nullptr : &inner.back();
  }
  void add(const RawFrame& frame) {
    if (inner.size() < wire::kInnerFrames) return inner.push_back(frame);
    outer.push_back(frame);
    if (outer.size() <= wire::kOuterFrames) return;
    outer.pop_front();
    gap = true;
  }
};

PythonFrame named(ForeignMemory& memory, const Layout& layout, CodeObjects& codes, const RawFrame& raw) {
  PythonFrame frame;
  frame.address = raw.address;
  frame.is_entry = raw.is_entry;
  frame.code = codes.find(memory, raw.code);
  if (frame.code) frame.line = frame.code->line_of(layout, raw.instruction);
  return frame;
}

}  // namespace

PythonFrame read_frame_at(ForeignMemory& memory, const Layout& layout, CodeObjects& codes, Address frame) {
  const auto raw = read_frame(memory, layout, frame);
  return raw ? named(memory, layout, codes, *raw) : PythonFrame{};
}

PythonStack read_frames(ForeignMemory& memory, const Layout& layout, CodeObjects& codes, Address frame) {
  PythonStack stack;
  Kept kept;
  std::size_t count = 0;
  for (; frame != 0 && count < kFramesMax; ++count) {
    const auto raw = read_frame(memory, layout, frame);
    if (!raw) break;
    frame = raw->previous;
    RawFrame* const last = kept.last();
    if (!raw->is_shim) {
      kept.add(*raw);
    } else if (last != nullptr) {
      last->is_entry = true;
    }
  }
  stack.incomplete = frame != 0;
  stack.gap = kept.gap;
  for (const RawFrame& each : kept.inner) stack.inner.push_back(named(memory, layout, codes, each));
  for (const RawFrame& each : kept.outer) stack.outer.push_back(named(memory, layout, codes, each));
  return stack;
}

}  // namespace distrun::probe::python
