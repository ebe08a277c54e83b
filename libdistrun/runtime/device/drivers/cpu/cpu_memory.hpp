#pragma once
// Host memory for tensors: one block holds the bytes and their Memory object.
#include <memory>

#include <distrun/runtime/device/memory/memory.hpp>

namespace distrun::device {

// Its bytes are aligned for the widest vector instructions. Throws Error{Overloaded, "OutOfMemoryError"}.
std::unique_ptr<Memory> allocate_on_cpu(std::size_t bytes);

}  // namespace distrun::device
