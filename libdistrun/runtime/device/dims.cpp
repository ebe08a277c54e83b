#include <distrun/runtime/device/dims.hpp>

#include <ostream>

#include <distrun/common/base/error.hpp>

namespace distrun::device {
namespace {

void check_count(std::size_t count) {
  if (count <= Dims::kMost) return;
  throw Error(ErrorKind::InvalidArgument,
              "a tensor has at most " + std::to_string(Dims::kMost) + " dimensions, not " + std::to_string(count));
}

}  // namespace

Dims::Dims(std::size_t count, std::int64_t value) {
  check_count(count);
  if (count > kInline) heap_ = new std::int64_t[kMost];
  size_ = count;
  std::fill(begin(), end(), value);
}

// A heap buffer always has space for kMost, so that growing never reallocates.
void Dims::assign(std::span<const std::int64_t> values) {
  check_count(values.size());
  if (values.size() > kInline) heap_ = new std::int64_t[kMost];
  size_ = values.size();
  std::copy(values.begin(), values.end(), begin());
}

void Dims::insert(std::size_t at, std::int64_t value) {
  check_count(size_ + 1);
  if (size_ == kInline) {
    auto* grown = new std::int64_t[kMost];
    std::copy_n(inline_, size_, grown);
    heap_ = grown;
  }
  ++size_;
  std::copy_backward(begin() + at, end() - 1, end());
  data()[at] = value;
}

void Dims::erase(std::size_t at) noexcept {
  std::copy(begin() + at + 1, end(), begin() + at);
  if (--size_ != kInline) return;
  const std::int64_t* grown = heap_;
  std::copy_n(grown, size_, inline_);
  delete[] grown;
}

std::int64_t count_of(const Dims& sizes) {
  std::int64_t count = 1;
  bool too_many = false;
  for (const std::int64_t size : sizes) {
    if (size == 0) return 0;
    too_many |= __builtin_mul_overflow(count, size, &count);
  }
  if (too_many) {
    throw Error(ErrorKind::InvalidArgument, "sizes " + to_string(sizes) + " have more elements than can be counted");
  }
  return count;
}

Dims contiguous_strides(const Dims& sizes) {
  Dims strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * std::max<std::int64_t>(sizes[i], 1);
  }
  return strides;
}

std::ostream& operator<<(std::ostream& out, const Dims& dims) { return out << to_string(dims); }

std::string to_string(const Dims& dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(dims[i]);
  return text + "]";
}

Reach reach_of(const Dims& sizes, const Dims& strides, std::int64_t offset) noexcept {
  Reach reach{offset, offset, sizes.size() == strides.size()};
  for (std::size_t i = 0; reach.is_valid && i < sizes.size(); ++i) {
    std::int64_t span = 0;
    std::int64_t& end = strides[i] < 0 ? reach.first : reach.last;
    reach.is_valid =
        !__builtin_mul_overflow(sizes[i] - 1, strides[i], &span) && !__builtin_add_overflow(end, span, &end);
  }
  return reach;
}

}  // namespace distrun::device
