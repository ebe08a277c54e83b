#include <agents/pipe/message_stream.hpp>

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>
#include <utility>

#include <agents/pipe/message_format.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/core/empty.hpp>

namespace distrun::agents::pipe {
namespace {

constexpr std::uint32_t kTensorsMax = 1 << 20;

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorKind::InvalidArgument, "a pipe message is malformed: " + text);
}

std::optional<base::Nanoseconds> read_time(const std::string& section) {
  std::int64_t time = 0;
  if (section.size() != sizeof time) return std::nullopt;
  std::memcpy(&time, section.data(), sizeof time);
  return base::Nanoseconds(time);
}

Dims read_dims(wire::ByteReader& table, std::size_t count) {
  Dims dims(count, 0);
  for (std::int64_t& each : dims) each = table.number<std::int64_t>();
  return dims;
}

}  // namespace

std::optional<IncomingMessages::Arrived> IncomingMessages::next(Stream& stream) {
  if (stage_ == Stage::Head) {
    if (read_whole(stream)) return finish();
    if (!read_head(stream)) return std::nullopt;
  }
  if (stage_ == Stage::Table && !read_table(stream)) return std::nullopt;
  if (stage_ == Stage::Payload && !read_payload(stream)) return std::nullopt;
  if (stage_ == Stage::Memory && !read_memory(stream)) return std::nullopt;
  if (stage_ == Stage::Skip && !skip(stream)) return std::nullopt;
  return finish();
}

void IncomingMessages::check_head() const {
  if (head_.mark != MessageHead::kMark) refuse("its marker is missing");
  if (head_.number != next_number_) {
    refuse("its number is " + std::to_string(head_.number) + ", expected " + std::to_string(next_number_));
  }
  if (head_.is_withdrawn != 0 && (head_.payload_bytes != 0 || head_.memory_bytes != 0)) {
    refuse("it was withdrawn, but has data");
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
  spans_.clear(), shapes_.clear(), to_fill_.clear(), places_.clear();
  filled_ = next_fill_ = 0;
  kept_until_.reset();
  was_read_from_peer_ = false;
}

// Reads a message that is there as one piece, as most are. Returns false if it is not, with nothing read.
bool IncomingMessages::read_whole(Stream& stream) {
  const std::span<const std::byte> there = stream.look();
  if (there.size() < sizeof head_) return false;
  std::memcpy(&head_, there.data(), sizeof head_);
  check_head();
  const std::uint64_t all = sizeof head_ + head_.table_bytes + head_.payload_bytes + head_.memory_bytes;
  if (there.size() < all) return false;
  begin();
  if (head_.table_bytes == 0 && head_.memory_bytes != 0) refuse("it has tensor data but no table");
  const std::byte* at = there.data() + sizeof head_;
  if (head_.table_bytes != 0) parse_table(wire::BytesView(at, head_.table_bytes));
  at += head_.table_bytes;
  if (stage_ != Stage::Skip) take_or_skip(0, [&] { message_.payload.assign(at, at + head_.payload_bytes); });
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

// Parses the table in place if it is there as one piece.
bool IncomingMessages::read_table(Stream& stream) {
  const std::size_t bytes = head_.table_bytes;
  if (bytes == 0 && head_.memory_bytes != 0) refuse("it has tensor data but no table");
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
  if (stage_ != Stage::Skip) stage_ = Stage::Payload;
  return true;
}

template <class Take>
void IncomingMessages::take_or_skip(std::uint64_t rest, Take take) {
  const auto kind = static_cast<rpc::MessageKind>(head_.kind);
  if (kind != rpc::MessageKind::Call && kind != rpc::MessageKind::Reply) return take();
  try {
    take();
  } catch (const std::bad_alloc&) {
    give_up(no_memory(), rest);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Overloaded) throw;
    give_up(no_memory() + ": " + error.text(), rest);
  }
}

std::string IncomingMessages::no_memory() const {
  const std::uint64_t bytes = std::accumulate(places_.begin(), places_.end(), head_.payload_bytes,
                                              [](std::uint64_t sum, const Place& each) { return sum + each.bytes; });
  return "out of memory for its " + std::to_string(bytes) + " bytes";
}

void IncomingMessages::give_up(const std::string& why, std::uint64_t rest) {
  message_.payload = wire::Bytes();  // `= {}` would keep the memory
  message_.tensors.clear();
  message_.unreadable = why;
  was_read_from_peer_ = std::any_of(places_.begin(), places_.end(), [](const Place& each) { return each.is_in_peer; });
  spans_.clear(), shapes_.clear(), to_fill_.clear();
  skip_ = rest;
  stage_ = Stage::Skip;
}

bool IncomingMessages::skip(Stream& stream) {
  while (skip_ != 0) {
    const std::span<const std::byte> there = stream.look();
    if (there.empty()) return false;
    const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(there.size(), skip_));
    stream.consume(taken);
    skip_ -= taken;
  }
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
    const bool is_deadline = section.tag == rpc::SectionTag::Deadline;
    if (const auto time = is_deadline || section.tag == kKeptUntil ? read_time(text) : std::nullopt) {
      if (is_deadline) message_.left = time;
      if (!is_deadline) kept_until_ = base::TimePoint(*time);
      continue;
    }
    const auto* const data = reinterpret_cast<const std::byte*>(text.data());
    section.bytes.assign(data, data + text.size());
    message_.sections.push_back(std::move(section));
  }
  parse_tensors(table);
  table.expect_end();
}

// Parses the shapes before memory is allocated, so that a tensor with a stretch of its own is allocated as usual.
void IncomingMessages::parse_tensors(wire::ByteReader& table) {
  const std::uint32_t spans = table.count(1 + sizeof(std::uint64_t));
  if (spans > kTensorsMax) refuse("it has " + std::to_string(spans) + " memory ranges");
  places_.clear();
  std::uint64_t in_stream = 0;
  for (std::uint32_t i = 0; i < spans; ++i) {
    Place place;
    place.is_in_peer = table.number<std::uint8_t>() == kInPeer;
    place.bytes = table.number<std::uint64_t>();
    if (place.bytes > limits_.memory) refuse("a memory range has " + std::to_string(place.bytes) + " bytes");
    if (place.is_in_peer) place.address = table.number<std::uint64_t>();
    if (!place.is_in_peer) in_stream += place.bytes;
    places_.push_back(place);
  }
  if (in_stream != head_.memory_bytes) refuse("its table does not match the memory that follows");
  const std::uint32_t shapes = table.count(3 + sizeof(std::uint32_t));
  if (shapes > kTensorsMax) refuse("it has " + std::to_string(shapes) + " tensors");
  for (std::uint32_t i = 0; i < shapes; ++i) parse_shape(table);
  const std::uint64_t rest = head_.payload_bytes + head_.memory_bytes;
  take_or_skip(rest, [this] { make_tensors(); });
  if (was_read_from_peer_ && kept_until_ && base::system_clock().now() >= *kept_until_) {
    give_up("its caller timed out before its tensors were read", rest);
    message_.is_late = true;
  }
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
  if (shape.span >= places_.size()) refuse("a tensor refers to a missing memory range");
#endif
  shape.sizes = read_dims(table, count);
  if (!shape.contiguous) {
    shape.offset = table.number<std::int64_t>();
    shape.strides = read_dims(table, count);
  }
  ++places_[shape.span].users;
}

// Allocates the memory; its contents arrive later, or are read directly out of the peer.
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
    if (place.users == 0 && place.bytes != 0) refuse("a memory range is used by no tensor");
    if (!place.is_in_peer) {
      to_fill_.push_back({place.to, static_cast<std::size_t>(place.bytes)});
    } else if (place.bytes != 0) {
      if (!read_peer_) refuse("it requires a direct read of the peer's memory, which was not negotiated");
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
    take_or_skip(bytes - payload.size() + head_.memory_bytes, [&] {
      payload.insert(payload.end(), there.begin(), there.begin() + static_cast<std::ptrdiff_t>(taken));
    });
    if (stage_ == Stage::Skip) return true;
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
  if (head_.is_withdrawn != 0) {
    message_.unreadable = "its caller timed out before it was sent";
    message_.is_late = true;
  }
  Arrived arrived{head_.kind, std::move(message_), head_.number, was_read_from_peer_};
  arrived.message.id = head_.id;
  spans_.clear();
  return arrived;
}

}  // namespace distrun::agents::pipe
