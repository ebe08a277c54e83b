#pragma once
// Device memory that is reused: a freed block goes back to the stream that it was allocated on, and is handed out again
// on that stream at once, since what comes later there comes after. Whoever uses a block on another stream says so by
// record_stream(); the block then waits for that stream's work by now before it is handed out again.
//
// On the CPU it is plain memory. Every call may come from any thread.
#include <cstddef>
#include <memory>

#include <distrun/common/base/location.hpp>
#include <distrun/runtime/device/memory/memory.hpp>

namespace distrun::device {

// For the current stream of the device. 0 bytes: no memory, data() is null. When the device is full its cached blocks
// are given back and it is tried again; then Error{Overloaded, "OutOfMemoryError"} tells the sizes and what holds them.
std::unique_ptr<Memory> allocate(Device device, std::size_t bytes, base::Location site = base::Location::here());
// Host memory that copies reach without staging; cached as well. Throws Error{Unimplemented} where there is no GPU.
std::unique_ptr<Memory> allocate_pinned(std::size_t bytes);

// Since the process began. Of the CPU nothing is counted.
AllocatorStatistics allocator_statistics(Device device);
void reset_peak(Device device);
// Gives every cached block back to the driver, or those of the CPU to malloc().
void empty_cache(Device device);

}  // namespace distrun::device
