#pragma once
// Device memory that is reused: a freed block returns to the stream that it was allocated on, and can be handed out
// again on that stream at once, since later work there runs after earlier work. Code that uses a block on another
// stream must call record_stream(); the block is then reused only after the present work of that stream.
//
// On the CPU it is plain memory. Thread-safe.
#include <cstddef>
#include <memory>

#include <distrun/common/base/location.hpp>
#include <distrun/runtime/device/memory/memory.hpp>

namespace distrun::device {

// Allocates for the current stream of the device. For 0 bytes data() is null. If the device is full, its cached blocks
// are freed and the allocation is tried again; then throws Error{Overloaded, "OutOfMemoryError"} with the sizes and the
// users of the memory.
std::unique_ptr<Memory> allocate(Device device, std::size_t bytes, base::Location site = base::Location::here());
// Allocates host memory that copies reach without staging; cached as well. Throws Error{Unimplemented} without a GPU.
std::unique_ptr<Memory> allocate_pinned(std::size_t bytes);

// Counts since the process began; nothing is counted for the CPU.
AllocatorStatistics allocator_statistics(Device device);
// Sets bytes_in_use_peak to the bytes that are in use now.
void reset_peak(Device device);
// Returns all cached blocks to the driver, or those of the CPU to malloc().
void empty_cache(Device device);

}  // namespace distrun::device
