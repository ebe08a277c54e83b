#include <distrun/plugin/rank/stacks_frame.hpp>

#include <array>
#include <cstring>

#include <distrun/common/wire/control.hpp>
#include <distrun/plugin/rank/stack_dump.hpp>

namespace distrun::rank {
namespace {

// Encodes like wire::Encoder; the buffer has room for everything that an area can hold.
class Writer {
 public:
  explicit Writer(std::byte* at) noexcept : at_(at) {}

  template <class T>
  void number(T value) noexcept {
    std::memcpy(at_, &value, sizeof value);
    at_ += sizeof value;
  }
  void string(const char* text, std::size_t size_max) noexcept {
    const std::size_t size = ::strnlen(text, size_max);
    number(static_cast<std::uint32_t>(size));
    std::memcpy(at_, text, size);
    at_ += size;
  }
  std::byte* at() const noexcept { return at_; }

 private:
  std::byte* at_;
};

void put(Writer& writer, const board::DumpModule& module) noexcept {
  writer.number(module.bias);
  writer.string(module.path, sizeof module.path);
}

void put(Writer& writer, const board::DumpThread& thread) noexcept {
  writer.number(thread.tid);
  writer.string(thread.name, sizeof thread.name);
  // Read once: a thread that answers too late for this dump may still add to them.
  const std::uint32_t count = thread.pc_count;
  writer.number(count);
  for (std::uint32_t i = 0; i < count; ++i) writer.number(thread.pcs[i]);
  writer.number(static_cast<std::uint8_t>((thread.flags & board::kDumpCrashed) != 0));
  writer.number(static_cast<std::uint8_t>((thread.flags & board::kDumpIncomplete) != 0));
  const bool silent = thread.why_none == board::NoStack::None;
  const char* why = count > 0 ? "" : board::text_of(silent ? board::NoStack::NoAnswer : thread.why_none);
  writer.string(why, 64);
}

std::uint32_t used_entries(const board::DumpArea& area) noexcept {
  std::uint32_t used = 0;
  for (std::uint32_t i = 0; i < area.head.thread_count; ++i) used += area.threads[i].tid != 0 ? 1U : 0U;
  return used;
}

}  // namespace

std::span<const std::byte> encode_stacks(const board::DumpArea& area, std::uint16_t rank,
                                         std::span<std::byte, kStacksFrameMax> room) noexcept {
  Writer payload(room.data() + wire::kFrameHeaderSize);
  payload.number(area.head.pid);
  payload.number(area.head.module_count);
  for (std::uint32_t i = 0; i < area.head.module_count; ++i) put(payload, area.modules[i]);
  payload.number(used_entries(area));
  for (std::uint32_t i = 0; i < area.head.thread_count; ++i) {
    if (area.threads[i].tid != 0) put(payload, area.threads[i]);
  }
  const auto size = static_cast<std::size_t>(payload.at() - room.data());
  Writer header(room.data());
  header.number(static_cast<std::uint32_t>(size - wire::kFrameHeaderSize));
  header.number(static_cast<std::uint16_t>(wire::ControlFrame::Stacks));
  header.number(rank);
  return room.first(size);
}

std::span<const std::byte> answer_with_stacks(std::uint16_t rank) noexcept {
  static board::DumpArea area;  // untouched until the first request, so it costs a rank nothing
  static std::array<std::byte, kStacksFrameMax> frame;
  dump_stacks(area, Asker::Request);
  return encode_stacks(area, rank, frame);
}

}  // namespace distrun::rank
