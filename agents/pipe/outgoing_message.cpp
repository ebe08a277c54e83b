#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <agents/pipe/message_format.hpp>
#include <agents/pipe/message_stream.hpp>
#include <distrun/common/base/error.hpp>

namespace distrun::agents::pipe {
namespace {

constexpr std::size_t kPartsMax = 64;                                     // of one write
constexpr std::array<std::byte, 2 * sizeof(std::uint32_t)> kNoTensors{};  // the end of a table: no spans, no shapes
constexpr std::size_t kSectionHead = 1 + sizeof(std::uint32_t), kTimeBytes = kSectionHead + sizeof(std::int64_t);

[[noreturn]] void refuse_to_send(const std::string& text) {
  throw Error(ErrorKind::InvalidArgument, "a message is too large to be sent: " + text);
}

void write_time(wire::ByteWriter& table, rpc::SectionTag tag, base::Nanoseconds time) {
  table.number(static_cast<std::uint8_t>(tag));
  table.number(static_cast<std::uint32_t>(sizeof(std::int64_t)));
  table.number(static_cast<std::int64_t>(time.count()));
}

void write_shape(wire::ByteWriter& table, const rpc::TensorShape& shape) {
  table.number(static_cast<std::uint8_t>(shape.dtype));
  table.number(static_cast<std::uint8_t>(shape.contiguous ? kContiguous : 0));
  table.number(static_cast<std::uint8_t>(shape.sizes.size()));
  table.number(shape.span);
  table.append(shape.sizes.begin(), shape.sizes.size() * sizeof(std::int64_t));
  if (shape.contiguous) return;
  table.number(shape.offset);
  table.append(shape.strides.begin(), shape.strides.size() * sizeof(std::int64_t));
}

// Collects the parts that are still to be written, after the first `skip` bytes.
class Parts {
 public:
  explicit Parts(std::uint64_t skip) : skip_(skip) {}
  void add(const void* data, std::size_t bytes) {
    if (skip_ >= bytes || count_ == kPartsMax) {
      skip_ -= std::min<std::uint64_t>(skip_, count_ == kPartsMax ? 0 : bytes);
      return;
    }
    auto* const begin = static_cast<std::byte*>(const_cast<void*>(data)) + skip_;
    parts_[count_++] = {begin, bytes - static_cast<std::size_t>(skip_)};
    skip_ = 0;
  }
  std::span<const iovec> all() const noexcept { return {parts_.data(), count_}; }

 private:
  std::uint64_t skip_;
  std::array<iovec, kPartsMax> parts_;  // only the first count_ are set; clearing all would be slow
  std::size_t count_ = 0;
};

}  // namespace

OutgoingMessage::OutgoingMessage(rpc::Message message, std::size_t cma_from) : cma_from_(cma_from) {
  head_.kind = static_cast<std::uint8_t>(message.kind);
  head_.id = message.id;
  rpc::TensorSpans tensors = message.tensors.empty() ? rpc::TensorSpans() : rpc::spans_of(message.tensors);
  if (message.left || !message.sections.empty() || !tensors.spans.empty()) write_table(message, tensors);
  spans_ = std::move(tensors.spans);
  payload_ = std::move(message.payload);
  check_limits();
  head_.table_bytes = static_cast<std::uint32_t>(table_.size());
  head_.payload_bytes = payload_.size();
}

// The limits are the receiver's, which ends the connection if a message exceeds them.
void OutgoingMessage::check_limits() const {
  const StreamLimits limits;
  if (table_.size() > limits.table) {
    refuse_to_send("its tensor table has " + std::to_string(table_.size()) + " bytes, limit " +
                   std::to_string(limits.table));
  }
  if (payload_.size() > limits.payload) {
    refuse_to_send("it has " + std::to_string(payload_.size()) + " bytes besides its tensors, limit " +
                   std::to_string(limits.payload));
  }
  if (head_.memory_bytes > limits.memory) {
    refuse_to_send("its tensors have " + std::to_string(head_.memory_bytes) + " bytes");
  }
}

OutgoingMessage OutgoingMessage::own(std::uint8_t kind, std::uint64_t id, const std::string& text) {
  OutgoingMessage made;
  made.head_.kind = kind;
  made.head_.id = id;
  const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
  made.payload_.assign(bytes, bytes + text.size());
  made.head_.payload_bytes = text.size();
  return made;
}

void OutgoingMessage::write_table(const rpc::Message& message, const rpc::TensorSpans& tensors) {
  if (message.sections.size() >= kSectionsMax) {
    refuse_to_send("it has " + std::to_string(message.sections.size()) + " sections");
  }
  const bool is_read_late = message.kept_until && std::any_of(tensors.spans.begin(), tensors.spans.end(),
                                                              [this](const auto& span) { return !is_in_stream(span); });
  wire::ByteWriter table;
  table.number(static_cast<std::uint8_t>(message.sections.size() + (message.left ? 1 : 0) + (is_read_late ? 1 : 0)));
  if (message.left) write_time(table, rpc::SectionTag::Deadline, *message.left);
  if (is_read_late) write_time(table, kKeptUntil, message.kept_until->time_since_epoch());
  for (const rpc::Section& each : message.sections) {
    table.number(static_cast<std::uint8_t>(each.tag));
    table.number(static_cast<std::uint32_t>(each.bytes.size()));
    table.append(each.bytes.data(), each.bytes.size());
  }
  sections_end_ = 1 + kTimeBytes * ((message.left ? 1u : 0u) + (is_read_late ? 1u : 0u));
  for (const rpc::Section& each : message.sections) sections_end_ += kSectionHead + each.bytes.size();
  table.number(static_cast<std::uint32_t>(tensors.spans.size()));
  write_spans(table, tensors);
  table.number(static_cast<std::uint32_t>(tensors.shapes.size()));
  for (const rpc::TensorShape& each : tensors.shapes) write_shape(table, each);
  table_ = table.take();
}

void OutgoingMessage::write_spans(wire::ByteWriter& table, const rpc::TensorSpans& tensors) {
  for (const rpc::Span& each : tensors.spans) {
    if (!each.storage->device().is_cpu()) throw Error(ErrorKind::InvalidArgument, "a tensor on a GPU is not staged");
    const bool is_in_peer = !is_in_stream(each);
    table.number(static_cast<std::uint8_t>(is_in_peer ? kInPeer : kInStream));
    table.number(static_cast<std::uint64_t>(each.bytes()));
    span_bytes_ += each.bytes();
    if (is_in_peer) {
      table.number(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(each.data())));
      is_read_by_peer_ = true;
    } else {
      head_.memory_bytes += each.bytes();
    }
  }
}

bool OutgoingMessage::is_call(std::uint64_t id) const noexcept {
  return head_.id == id && head_.kind == static_cast<std::uint8_t>(rpc::MessageKind::Call);
}

bool OutgoingMessage::withdraw() noexcept {
  if (!is_begun()) return drop_data(), true;
  try {
    copy_data();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

// Keeps the sections: what they transfer has to be returned. Needs no memory: the table becomes shorter, and stays
// where it is if it cannot be moved to less memory.
void OutgoingMessage::drop_data() noexcept {
  if (!table_.empty()) {
    table_.resize(sections_end_ + kNoTensors.size());
    std::copy(kNoTensors.begin(), kNoTensors.end(), table_.end() - std::ssize(kNoTensors));
  }
  table_.shrink_to_fit();
  payload_ = wire::Bytes();  // `= {}` would keep the memory
  spans_ = rpc::TensorSpans::Spans();
  span_bytes_ = 0;
  is_read_by_peer_ = false;
  head_.is_withdrawn = 1;
  head_.table_bytes = static_cast<std::uint32_t>(table_.size());
  head_.payload_bytes = head_.memory_bytes = 0;
}

// Stretches that are read by the peer, or that are written already, are not copied.
void OutgoingMessage::copy_data() {
  rpc::TensorSpans::Spans copies;
  std::uint64_t end = sizeof head_ + table_.size() + payload_.size();  // of the stretch, in the stream
  for (const rpc::Span& each : spans_) {
    if (is_in_stream(each)) end += each.bytes();
    if (!is_in_stream(each) || end <= written_) {
      copies.push_back({each.storage, each.begin, each.end});
      continue;
    }
    auto copy = tensor::Storage::make(device::kCpu, each.bytes());
    if (each.bytes() != 0) std::memcpy(copy->data(), each.data(), each.bytes());
    copies.push_back({std::move(copy), 0, each.bytes()});
  }
  spans_ = std::move(copies);
}

bool OutgoingMessage::write_to(Stream& stream) {
  const std::uint64_t all = sizeof head_ + table_.size() + payload_.size() + head_.memory_bytes;
  while (written_ < all) {
    Parts parts(written_);
    parts.add(&head_, sizeof head_);
    parts.add(table_.data(), table_.size());
    parts.add(payload_.data(), payload_.size());
    for (const rpc::Span& each : spans_) {
      if (is_in_stream(each)) parts.add(each.data(), each.bytes());
    }
    const std::size_t taken = stream.write(parts.all());
    if (taken == 0) return false;
    written_ += taken;
  }
  return true;
}

}  // namespace distrun::agents::pipe
