#include <distrun/common/wire/buffer.hpp>

#include <bit>
#include <limits>
#include <utility>

#include <distrun/common/base/error.hpp>

namespace distrun::wire {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

BytesView view_of(const Bytes& bytes) noexcept { return {bytes.data(), bytes.size()}; }

BytesView view_of(const void* data, std::size_t size) noexcept { return {static_cast<const std::byte*>(data), size}; }

void ByteWriter::flush() {
  bytes_.insert(bytes_.end(), small_.begin(), small_.begin() + gathered_);
  gathered_ = 0;
}

Bytes ByteWriter::take() {
  if (bytes_.empty()) return {small_.begin(), small_.begin() + std::exchange(gathered_, 0)};
  flush();
  return std::move(bytes_);
}

void ByteWriter::append(const void* data, std::size_t size) {
  if (size > kGathered - gathered_) flush();
  if (size > kGathered) {
    const auto* const first = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), first, first + size);
  } else if (size != 0) {
    std::memcpy(small_.data() + gathered_, data, size);
    gathered_ += size;
  }
}

void ByteWriter::string(std::string_view text) {
  if (text.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(ErrorKind::Overloaded,
                "a string of " + std::to_string(text.size()) + " bytes does not fit a message (limit 4 GiB)");
  }
  number(static_cast<std::uint32_t>(text.size()));
  append(text.data(), text.size());
}

void ByteReader::refuse_early_end(std::size_t wanted) const {
  throw Error(ErrorKind::InvalidArgument, "message ends early: " + std::to_string(wanted) + " bytes expected, " +
                                              std::to_string(rest_.size()) + " left");
}

std::string ByteReader::string() {
  const auto size = number<std::uint32_t>();
  const std::byte* at = take(size);
  return {reinterpret_cast<const char*>(at), size};
}

std::uint32_t ByteReader::count(std::size_t element_size_min) {
  const auto count = number<std::uint32_t>();
  if (count > rest_.size() / element_size_min) {
    throw Error(ErrorKind::InvalidArgument, "a list of " + std::to_string(count) +
                                                " elements does not fit the message's last " +
                                                std::to_string(rest_.size()) + " bytes");
  }
  return count;
}

void ByteReader::expect_end() const {
  if (!rest_.empty()) {
    throw Error(ErrorKind::InvalidArgument, std::to_string(rest_.size()) + " bytes too many at the end of a message");
  }
}

}  // namespace distrun::wire
