#pragma once
// Byte buffers: little-endian numbers, length-prefixed strings and lists. Reading is bounded by the available bytes: a
// length is checked before anything is allocated for it.
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace distrun::wire {

using Bytes = std::vector<std::byte>;                 // owned
using BytesView = std::basic_string_view<std::byte>;  // borrowed

template <class T>
concept Number = std::is_arithmetic_v<T>;

// Returns a view that is valid as long as the bytes.
BytesView view_of(const Bytes& bytes) noexcept;
BytesView view_of(const void* data, std::size_t size) noexcept;

// Gathers small values in place: growing a vector for each number would cost far more than the numbers. A message of
// less than kGathered bytes needs one allocation of exactly its size.
class ByteWriter {
 public:
  // Appends a number, little-endian.
  template <Number T>
  void number(T value) {
    if (sizeof value > kGathered - gathered_) flush();
    std::memcpy(small_.data() + gathered_, &value, sizeof value);
    gathered_ += sizeof value;
  }
  // Throws Error{Overloaded} beyond 4 GiB.
  void string(std::string_view text);
  void append(const void* data, std::size_t size);          // without a length
  void reserve(std::size_t size) { bytes_.reserve(size); }  // bytes, in advance

  // Returns what was written so far; valid until the next write.
  const Bytes& bytes() {
    flush();
    return bytes_;
  }
  // Returns what was written and leaves the writer empty.
  Bytes take();

 private:
  static constexpr std::size_t kGathered = 256;

  void flush();

  Bytes bytes_;
  std::size_t gathered_ = 0;                // bytes that follow bytes_
  std::array<std::byte, kGathered> small_;  // holds the gathered bytes
};

// Borrows the bytes. Every read throws Error{InvalidArgument} "message ends early" if too few are left.
class ByteReader {
 public:
  // `bytes` must outlive the reader.
  explicit ByteReader(BytesView bytes) noexcept : rest_(bytes) {}

  // Returns the next number.
  template <Number T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }
  std::string string();  // with its length before it
  // Returns a list's length. Refuses it if fewer than `element_size_min` bytes are left for each element.
  std::uint32_t count(std::size_t element_size_min);

  std::size_t remaining() const noexcept { return rest_.size(); }  // bytes
  // Throws Error{InvalidArgument} if bytes are left over.
  void expect_end() const;

 private:
  const std::byte* take(std::size_t size) {
    if (size > rest_.size()) [[unlikely]]
      refuse_early_end(size);
    const std::byte* const at = rest_.data();
    rest_.remove_prefix(size);
    return at;
  }
  [[noreturn]] void refuse_early_end(std::size_t wanted) const;

  BytesView rest_;
};

}  // namespace distrun::wire
