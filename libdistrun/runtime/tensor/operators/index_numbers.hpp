#pragma once
// Checks of indices for operators that pick elements.
#include <optional>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

// Returns the first int64 number that is out of 0 .. size - 1, or nothing. Waits for the device.
std::optional<std::int64_t> out_of_range(const Tensor& numbers, std::int64_t size);

// Throws Error{InvalidArgument} unless all are 0 .. size - 1; waits for the device. `dim` is for the error text.
void check_numbers(const char* op, const Tensor& numbers, std::size_t dim, std::int64_t size);
// Checks for a dense int64 index on the tensor's device. Returns the wrapped dimension.
std::size_t check_index(const char* op, const Tensor& x, std::int64_t dim, const Tensor& index);
// Checks that elements to be added to `x` have its dtype and device.
void check_source(const char* op, const Tensor& x, const Tensor& source);
// Returns the tensor, or a copy if it shares bytes with `x`, which is about to change.
Tensor unshared(const Tensor& tensor, const Tensor& x);
// Views a tensor without dimensions as one with a single element.
Tensor with_a_dimension(const Tensor& tensor);

// Adds elements: integers wrap, bools are or-ed.
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

// Calls body with a zero of a type as wide as the dtype: for copying elements by their bytes.
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
