#pragma once
// What operators that pick elements by number ask of these.
#include <optional>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

// The first of int64 numbers that is not 0 to size - 1; none: all are. Waits for the device.
std::optional<std::int64_t> out_of_range(const Tensor& numbers, std::int64_t size);

// Throws Error{InvalidArgument} unless all are 0 .. size - 1; waits for the device. `dim` is for the text.
void check_numbers(const char* op, const Tensor& numbers, std::size_t dim, std::int64_t size);
// A dense int64 index on the tensor's device. Returns the dimension, wrapped.
std::size_t check_index(const char* op, const Tensor& x, std::int64_t dim, const Tensor& index);
// Elements that are added to those of `x`: of its dtype and device.
void check_source(const char* op, const Tensor& x, const Tensor& source);
// Itself, or a copy if it shares bytes with `x`, which is about to change.
Tensor unshared(const Tensor& tensor, const Tensor& x);
// Without dimensions a tensor is as one of a single element.
Tensor with_a_dimension(const Tensor& tensor);

// Integers wrap, truth values are either.
template <class T>
void add_to(T& sum, T value) {
  if constexpr (std::is_same_v<T, bool>) {
    sum = sum || value;
  } else if constexpr (std::is_floating_point_v<T>) {
    sum += value;
  } else {
    sum = static_cast<T>(static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(value));
  }
}

// Calls body with a zero of a type as wide as the dtype: for elements that are copied by their bytes.
template <class Body>
void with_width(DType dtype, const Body& body) {
  switch (size_of(dtype)) {
    case 1: return body(std::uint8_t{});
    case 2: return body(std::uint16_t{});
    case 4: return body(std::uint32_t{});
    default: return body(std::uint64_t{});
  }
}

}  // namespace distrun::tensor
