#pragma once
// A short list of integers: sizes or strides of a tensor. Up to kInline are stored without an allocation; at most
// kMost.
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace distrun::device {

// A value type. Copies of up to kInline dimensions allocate nothing.
class Dims {
 public:
  static constexpr std::size_t kInline = 5;  // stored in the object
  static constexpr std::size_t kMost = 64;   // dimensions at most

  Dims() noexcept = default;
  // Copies the values. Throws Error{InvalidArgument} beyond kMost.
  Dims(std::initializer_list<std::int64_t> values) : Dims(std::span(values.begin(), values.size())) {}
  // Copies the values. Throws Error{InvalidArgument} beyond kMost.
  explicit Dims(std::span<const std::int64_t> values) { assign(values); }
  // Takes a single dimension, as is customary: zeros(3), x.view(-1).
  template <std::integral Int>
  requires(!std::same_as<Int, bool>) Dims(Int value)
  noexcept : size_(1), inline_{static_cast<std::int64_t>(value)} {}
  // Copies the values. Throws Error{InvalidArgument} beyond kMost.
  Dims(const std::vector<std::int64_t>& values) : Dims(std::span<const std::int64_t>(values)) {}
  // Repeats `value` `count` times.
  Dims(std::size_t count, std::int64_t value);
  // Inline values are copied as a whole: two moves, no loop.
  Dims(const Dims& other) {
    if (other.size_ <= kInline) [[likely]] {
      copy_in_place(other);
    } else {
      assign(other.span());
    }
  }
  Dims(Dims&& other) noexcept { take(other); }
  Dims& operator=(const Dims& other) { return *this = Dims(other); }
  Dims& operator=(Dims&& other) noexcept {
    if (this == &other) return *this;
    release();
    take(other);
    return *this;
  }
  ~Dims() { release(); }

  // These do what those of std::vector do; they do not check the index.
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  const std::int64_t* begin() const noexcept { return data(); }
  const std::int64_t* end() const noexcept { return data() + size_; }
  std::int64_t* begin() noexcept { return data(); }
  std::int64_t* end() noexcept { return data() + size_; }
  std::int64_t operator[](std::size_t i) const noexcept { return data()[i]; }
  std::int64_t& operator[](std::size_t i) noexcept { return data()[i]; }
  std::int64_t back() const noexcept { return data()[size_ - 1]; }
  // Returns a view, valid until the next change.
  std::span<const std::int64_t> span() const noexcept { return {data(), size_}; }
  std::vector<std::int64_t> to_vector() const { return {begin(), end()}; }  // a copy

  // Throws Error{InvalidArgument} beyond kMost.
  void push_back(std::int64_t value) { insert(size_, value); }
  // Inserts before position `at`. Throws Error{InvalidArgument} beyond kMost.
  void insert(std::size_t at, std::int64_t value);
  void erase(std::size_t at) noexcept;  // the value at that position

  friend bool operator==(const Dims& a, const Dims& b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  const std::int64_t* data() const noexcept { return size_ > kInline ? heap_ : inline_; }
  std::int64_t* data() noexcept { return size_ > kInline ? heap_ : inline_; }
  void assign(std::span<const std::int64_t> values);
  void copy_in_place(const Dims& other) noexcept {
    size_ = other.size_;
    std::memcpy(inline_, other.inline_, sizeof inline_);
  }
  void take(Dims& other) noexcept {
    if (other.size_ <= kInline) [[likely]] {
      copy_in_place(other);
    } else {
      size_ = other.size_;
      heap_ = other.heap_;
    }
    other.size_ = 0;
  }
  void release() noexcept {
    if (size_ > kInline) delete[] heap_;
  }

  std::size_t size_ = 0;
  union {
    std::int64_t inline_[kInline] = {};
    std::int64_t* heap_;
  };
};

// Returns the product; 1 if empty. Throws Error{InvalidArgument} if it exceeds std::int64_t.
std::int64_t count_of(const Dims& sizes);
// Returns the strides of a dense row-major block, in elements.
Dims contiguous_strides(const Dims& sizes);
std::string to_string(const Dims& dims);                        // "[2, 3]"
std::ostream& operator<<(std::ostream& out, const Dims& dims);  // prints to_string()

// The first and the last element that a strided block touches; invalid if the range exceeds any memory.
struct Reach {
  std::int64_t first = 0;  // offset in elements
  std::int64_t last = 0;   // offset in elements
  bool is_valid = true;    // false: the others say nothing
};
// Returns the reach of a block with these strides that begins at `offset`, all in elements.
Reach reach_of(const Dims& sizes, const Dims& strides, std::int64_t offset) noexcept;

}  // namespace distrun::device
