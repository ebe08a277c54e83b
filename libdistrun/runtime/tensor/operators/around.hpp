#pragma once
// Views a contiguous tensor as lines along one of its dimensions, or as rows of its last dimensions.
#include <distrun/runtime/tensor/core/parallel.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>
#include <distrun/runtime/tensor/kernels/lines.hpp>

namespace distrun::tensor {

struct Around : kernels::Lines {
  std::int64_t at(std::int64_t before, std::int64_t i, std::int64_t after) const noexcept {
    return (before * size + i) * inner + after;
  }
  std::int64_t line_count() const noexcept { return outer * inner; }
};

// A tensor without dimensions is one line of one element.
inline Around around(const Dims& sizes, std::size_t dim) noexcept {
  Around shape;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    (i < dim ? shape.outer : i > dim ? shape.inner : shape.size) *= sizes[i];
  return shape;
}

// Calls line(before, after) for each line.
template <class Line>
void for_each_line(const Around& shape, const Line& line) {
  for (std::int64_t before = 0; before < shape.outer; ++before) {
    for (std::int64_t after = 0; after < shape.inner; ++after) line(before, after);
  }
}

// Calls part(first, count) for ranges of `count` equal items, each with some elements; uses several threads if they are
// large.
template <class Part>
void for_parts(std::int64_t count, std::int64_t elements_each, const Part& part) {
  parallel_for(count, (kElementsEach - 1) / elements_each + 1,
               [&part](std::int64_t first, std::int64_t end) { part(first, end - first); });
}
// Calls part(first, lines) in the same way for ranges of lines; `first` is the first element of the first line.
template <class Part>
void for_parts(const Around& shape, const Part& part) {
  const std::int64_t elements_each = shape.size * shape.inner;
  for_parts(shape.outer, elements_each, [&](std::int64_t first, std::int64_t count) {
    kernels::Lines lines = shape;
    lines.outer = count;
    part(first * elements_each, lines);
  });
}

// Casts a launch's bytes to elements.
template <class T>
const T* as(const std::byte* bytes) noexcept {
  return reinterpret_cast<const T*>(bytes);
}
template <class T>
T* as_mutable(std::byte* bytes) noexcept {
  return reinterpret_cast<T*>(bytes);
}

}  // namespace distrun::tensor
