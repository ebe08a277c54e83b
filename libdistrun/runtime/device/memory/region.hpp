#pragma once
// Memory that a piece of work touches: a strided block, as tensors are. The virtual driver's check of stream order
// works on its exact bytes, so that two columns of one matrix are no conflict.
#include <cstddef>
#include <cstdint>

#include <distrun/runtime/device/dims.hpp>

namespace distrun::device {

// With Write what was there before is gone, also of elements that are not written after all.
enum class Access : std::uint8_t { Read, Write, ReadWrite };

struct Region {
  void* begin = nullptr;  // of the element with index 0 in every dimension
  std::size_t element_bytes = 1;
  Dims sizes;    // none: one element
  Dims strides;  // in elements
  Access access = Access::Read;
};

// `bytes` without holes.
Region flat_region(const void* begin, std::size_t bytes, Access access);

}  // namespace distrun::device
