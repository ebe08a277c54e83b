#pragma once
// Two numbers, for height and width of an image. A single number sets both: {.padding = 1}.
#include <array>
#include <cstddef>
#include <cstdint>

#include <distrun/runtime/tensor/core/scalar.hpp>

namespace distrun::tensor {

// A value type; converts from a number, which then stands for both.
class Pair {
 public:
  // Uses the number for both.
  template <Integer Int>
  constexpr Pair(Int both) noexcept : numbers_{static_cast<std::int64_t>(both), static_cast<std::int64_t>(both)} {}
  // From height and width.
  constexpr Pair(std::int64_t height, std::int64_t width) noexcept : numbers_{height, width} {}
  constexpr Pair(const std::array<std::int64_t, 2>& numbers) noexcept : numbers_(numbers) {}  // {height, width}

  constexpr std::int64_t operator[](std::size_t i) const noexcept { return numbers_[i]; }     // 0: height, 1: width
  constexpr const std::array<std::int64_t, 2>& numbers() const noexcept { return numbers_; }  // {height, width}
  friend bool operator==(const Pair&, const Pair&) = default;

 private:
  std::array<std::int64_t, 2> numbers_;
};

}  // namespace distrun::tensor
