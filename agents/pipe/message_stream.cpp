#include <agents/pipe/message_stream.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/core/empty.hpp>

namespace distrun::agents::pipe {
namespace {

constexpr std::uint8_t kInStream = 0, kInPeer = 1;  // where the memory of a stretch is
constexpr std::uint8_t kContiguous = 1;
constexpr std::size_t kPartsMax = 64;  // of one write
constexpr std::size_t kSectionsMax = 32;
constexpr std::uint32_t kTensorsMax = 1 << 20;

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorKind::InvalidArgument, "a message of the pipe is broken: " + text);
}

[[noreturn]] void refuse_to_send(const std::string& text) {
  throw Error(ErrorKind::InvalidArgument, "a message is too large to be sent: " + text);
}

void write_deadline(wire::ByteWriter& table, base::Nanoseconds left) {
  table.number(static_cast<std::uint8_t>(rpc::SectionTag::Deadline));
  table.number(static_cast<std::uint32_t>(sizeof(std::int64_t)));
  table.number(static_cast<std::int64_t>(left.count()));
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

Dims read_dims(wire::ByteReader& table, std::size_t count) {
  Dims dims(count, 0);
  for (std::int64_t& each : dims) each = table.number<std::int64_t>();
  return dims;
}

// The parts that are still to be written, behind the first `skip` bytes of all.
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
  std::array<iovec, kPartsMax> parts_;  // count_ of them: the others are not even cleared, they are many
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

// The receiver's, for whom what is beyond them ends the connection.
void OutgoingMessage::check_limits() const {
  const StreamLimits limits;
  if (table_.size() > limits.table) {
    refuse_to_send("what is said of its tensors has " + std::to_string(table_.size()) + " bytes, of " +
                   std::to_string(limits.table));
  }
  if (payload_.size() > limits.payload) {
    refuse_to_send("it has " + std::to_string(payload_.size()) + " bytes beside its tensors, of " +
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
  wire::ByteWriter table;
  table.number(static_cast<std::uint8_t>(message.sections.size() + (message.left ? 1 : 0)));
  if (message.left) write_deadline(table, *message.left);
  for (const rpc::Section& each : message.sections) {
    table.number(static_cast<std::uint8_t>(each.tag));
    table.number(static_cast<std::uint32_t>(each.bytes.size()));
    table.append(each.bytes.data(), each.bytes.size());
  }
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
    if (is_in_peer) {
      table.number(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(each.data())));
      is_read_by_peer_ = true;
    } else {
      head_.memory_bytes += each.bytes();
    }
  }
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

std::optional<IncomingMessages::Arrived> IncomingMessages::next(Stream& stream) {
  if (stage_ == Stage::Head) {
    if (read_whole(stream)) return finish();
    if (!read_head(stream)) return std::nullopt;
  }
  if (stage_ == Stage::Table && !read_table(stream)) return std::nullopt;
  if (stage_ == Stage::Payload && !read_payload(stream)) return std::nullopt;
  if (stage_ == Stage::Memory && !read_memory(stream)) return std::nullopt;
  return finish();
}

void IncomingMessages::check_head() const {
  if (head_.mark != MessageHead::kMark) refuse("it does not begin with its mark");
  if (head_.number != next_number_) {
    refuse("its number is " + std::to_string(head_.number) + ", and " + std::to_string(next_number_) + " is the next");
  }
  if (head_.table_bytes > limits_.table) refuse("its table has " + std::to_string(head_.table_bytes) + " bytes");
  if (head_.payload_bytes > limits_.payload)
    refuse("its payload has " + std::to_string(head_.payload_bytes) + " bytes");
  if (head_.memory_bytes > limits_.memory) refuse("its tensors have " + std::to_string(head_.memory_bytes) + " bytes");
}

void IncomingMessages::begin() {
  check_head();
  ++next_number_;
  message_ = rpc::Message();
  spans_.clear(), shapes_.clear(), to_fill_.clear();
  filled_ = next_fill_ = 0;
  was_read_from_peer_ = false;
}

// Most are there as one piece: then it is read in one go. False: it is not, and nothing has been read.
bool IncomingMessages::read_whole(Stream& stream) {
  const std::span<const std::byte> there = stream.look();
  if (there.size() < sizeof head_) return false;
  std::memcpy(&head_, there.data(), sizeof head_);
  check_head();
  const std::uint64_t all = sizeof head_ + head_.table_bytes + head_.payload_bytes + head_.memory_bytes;
  if (there.size() < all) return false;
  begin();
  if (head_.table_bytes == 0 && head_.memory_bytes != 0) refuse("it has memory, and no table");
  const std::byte* at = there.data() + sizeof head_;
  if (head_.table_bytes != 0) parse_table(wire::BytesView(at, head_.table_bytes));
  at += head_.table_bytes;
  message_.payload.assign(at, at + head_.payload_bytes);
  at += head_.payload_bytes;
  for (const Filled& fill : to_fill_) {
    if (fill.bytes != 0) std::memcpy(fill.to, at, fill.bytes);
    at += fill.bytes;
  }
  stream.consume(static_cast<std::size_t>(all));
  return true;
}

bool IncomingMessages::read_head(Stream& stream) {
  const std::span<const std::byte> there = stream.look();
  if (there.size() < sizeof head_) return false;
  std::memcpy(&head_, there.data(), sizeof head_);
  begin();
  stream.consume(sizeof head_);
  stage_ = Stage::Table;
  return true;
}

// In place, if it is there as one piece.
bool IncomingMessages::read_table(Stream& stream) {
  const std::size_t bytes = head_.table_bytes;
  if (bytes == 0 && head_.memory_bytes != 0) refuse("it has memory, and no table");
  if (bytes != 0) {
    const std::span<const std::byte> there = table_.empty() ? stream.look() : std::span<const std::byte>();
    if (there.size() >= bytes) {
      parse_table(wire::BytesView(there.data(), bytes));
      stream.consume(bytes);
    } else {
      while (table_.size() < bytes) {
        const std::span<const std::byte> more = stream.look();
        if (more.empty()) return false;
        const std::size_t taken = std::min(more.size(), bytes - table_.size());
        table_.insert(table_.end(), more.begin(), more.begin() + static_cast<std::ptrdiff_t>(taken));
        stream.consume(taken);
      }
      const wire::Bytes table = std::exchange(table_, {});
      parse_table(wire::view_of(table));
    }
  }
  stage_ = Stage::Payload;
  return true;
}

void IncomingMessages::parse_table(wire::BytesView bytes) {
  wire::ByteReader table(bytes);
  const auto sections = table.number<std::uint8_t>();
  if (sections > kSectionsMax) refuse("it has " + std::to_string(sections) + " sections");
  for (int i = 0; i < sections; ++i) {
    rpc::Section section;
    section.tag = static_cast<rpc::SectionTag>(table.number<std::uint8_t>());
    const std::string text = table.string();
    if (section.tag == rpc::SectionTag::Deadline && text.size() == sizeof(std::int64_t)) {
      std::int64_t left = 0;
      std::memcpy(&left, text.data(), sizeof left);
      message_.left = base::Nanoseconds(left);
      continue;
    }
    const auto* const data = reinterpret_cast<const std::byte*>(text.data());
    section.bytes.assign(data, data + text.size());
    message_.sections.push_back(std::move(section));
  }
  parse_tensors(table);
  table.expect_end();
}

// Shapes first, so that a tensor that has a stretch for itself is made as any other one.
void IncomingMessages::parse_tensors(wire::ByteReader& table) {
  const std::uint32_t spans = table.count(1 + sizeof(std::uint64_t));
  if (spans > kTensorsMax) refuse("it has " + std::to_string(spans) + " stretches of memory");
  places_.clear();
  std::uint64_t in_stream = 0;
  for (std::uint32_t i = 0; i < spans; ++i) {
    Place place;
    place.is_in_peer = table.number<std::uint8_t>() == kInPeer;
    place.bytes = table.number<std::uint64_t>();
    if (place.bytes > limits_.memory) refuse("a stretch of its memory has " + std::to_string(place.bytes) + " bytes");
    if (place.is_in_peer) place.address = table.number<std::uint64_t>();
    if (!place.is_in_peer) in_stream += place.bytes;
    places_.push_back(place);
  }
  if (in_stream != head_.memory_bytes) refuse("its table speaks of other memory than follows");
  const std::uint32_t shapes = table.count(3 + sizeof(std::uint32_t));
  if (shapes > kTensorsMax) refuse("it has " + std::to_string(shapes) + " tensors");
  for (std::uint32_t i = 0; i < shapes; ++i) parse_shape(table);
  make_tensors();
}

void IncomingMessages::parse_shape(wire::ByteReader& table) {
  rpc::TensorShape& shape = shapes_.emplace_back();
  const auto dtype = table.number<std::uint8_t>();
  if (dtype >= tensor::kDTypeCount) refuse("a tensor has the unknown dtype " + std::to_string(dtype));
  shape.dtype = static_cast<tensor::DType>(dtype);
  shape.contiguous = (table.number<std::uint8_t>() & kContiguous) != 0;
  const auto count = table.number<std::uint8_t>();
  if (count > Dims::kMost) refuse("a tensor has " + std::to_string(count) + " dimensions");
  shape.span = table.number<std::uint32_t>();
#ifndef DISTRUN_FUZZ_PLANTED_BUG
  if (shape.span >= places_.size()) refuse("a tensor speaks of memory that is not there");
#endif
  shape.sizes = read_dims(table, count);
  if (!shape.contiguous) {
    shape.offset = table.number<std::int64_t>();
    shape.strides = read_dims(table, count);
  }
  ++places_[shape.span].users;
}

// Memory is taken here; what is in it comes later, or is read out of the peer.
void IncomingMessages::make_tensors() {
  message_.tensors.resize(shapes_.size());
  spans_.resize(places_.size());
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    const rpc::TensorShape& shape = shapes_[i];
    const Place& place = places_[shape.span];
    if (place.users != 1 || !shape.contiguous) continue;
    const auto elements = static_cast<std::uint64_t>(device::count_of(shape.sizes));
    if (elements * size_of(shape.dtype) != place.bytes) continue;
    message_.tensors[i] = tensor::empty(shape.sizes, {shape.dtype, {}});
    places_[shape.span].to = message_.tensors[i].data();
  }
  for (std::size_t i = 0; i < places_.size(); ++i) {
    Place& place = places_[i];
    if (place.to == nullptr && place.users != 0) {
      spans_[i] = tensor::Storage::make(device::kCpu, static_cast<std::size_t>(place.bytes));
      place.to = spans_[i]->data();
    }
    if (place.users == 0 && place.bytes != 0) refuse("no tensor uses a stretch of its memory");
    if (!place.is_in_peer) {
      to_fill_.push_back({place.to, static_cast<std::size_t>(place.bytes)});
    } else if (place.bytes != 0) {
      if (!read_peer_) refuse("its memory is to be read out of the peer, which was not agreed");
      read_peer_(place.address, place.to, static_cast<std::size_t>(place.bytes));
      was_read_from_peer_ = true;
    }
  }
}

bool IncomingMessages::read_payload(Stream& stream) {
  const auto bytes = static_cast<std::size_t>(head_.payload_bytes);
  wire::Bytes& payload = message_.payload;
  while (payload.size() < bytes) {
    const std::span<const std::byte> there = stream.look();
    if (there.empty()) return false;
    const std::size_t taken = std::min(there.size(), bytes - payload.size());
    payload.insert(payload.end(), there.begin(), there.begin() + static_cast<std::ptrdiff_t>(taken));
    stream.consume(taken);
  }
  stage_ = Stage::Memory;
  return true;
}

bool IncomingMessages::read_memory(Stream& stream) {
  while (next_fill_ < to_fill_.size()) {
    const Filled& fill = to_fill_[next_fill_];
    while (filled_ < fill.bytes) {
      const std::size_t taken = stream.read_into(fill.to + filled_, fill.bytes - filled_);
      if (taken == 0) return false;
      filled_ += taken;
    }
    filled_ = 0;
    ++next_fill_;
  }
  return true;
}

IncomingMessages::Arrived IncomingMessages::finish() {
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    if (!message_.tensors[i].defined()) message_.tensors[i] = rpc::tensor_in(spans_[shapes_[i].span], shapes_[i]);
  }
  stage_ = Stage::Head;
  Arrived arrived{head_.kind, std::move(message_), head_.number, was_read_from_peer_};
  arrived.message.id = head_.id;
  spans_.clear();
  return arrived;
}

}  // namespace distrun::agents::pipe
