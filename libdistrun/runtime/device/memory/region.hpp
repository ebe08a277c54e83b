#pragma once
// Memory that a piece of work touches: a strided block like those of tensors. The virtual driver's check of stream
// order uses its exact bytes, so that two columns of one matrix do not conflict.
#include <cstddef>
#include <cstdint>

#include <distrun/runtime/device/dims.hpp>

namespace distrun::device {

// Write discards the former contents, also of elements that are not written after all.
enum class Access : std::uint8_t { Read, Write, ReadWrite };

struct Region {
  void* begin = nullptr;  // address of the element with index 0 in every dimension
  std::size_t element_bytes = 1;
  Dims sizes;    // empty: one element
  Dims strides;  // in elements
  Access access = Access::Read;
};

// Describes `bytes` contiguous bytes.
Region flat_region(const void* begin, std::size_t bytes, Access access);

}  // namespace distrun::device
