#pragma once
// Device memory that is reused: a freed block goes back to the stream that it was allocated on, and is handed out again
// on that stream at once, since what comes later there comes after. Whoever uses a block on another stream says so by
// record_stream(); the block then waits for that stream's work by now before it is handed out again.
//
// On the CPU it is plain memory. Every call may come from any thread.
#include <cstddef>
#include <cstdint>
#include <memory>

#include <distrun/runtime/device/stream.hpp>

namespace distrun::device {

// Bytes of a device. Immovable; shared by the storages that use it. Freed by its destructor, on whatever thread.
class Memory {
 public:
  virtual ~Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  void* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }
  Device device() const noexcept { return device_; }
  // Its bytes are used by work on that stream.
  virtual void record_stream(Stream stream) = 0;

 protected:
  Memory(Device device, void* data, std::size_t bytes) : data_(data), bytes_(bytes), device_(device) {}

 private:
  void* data_;
  std::size_t bytes_;
  Device device_;
};

// For the current stream of the device. 0 bytes: no memory, data() is null. When the device is full its cached blocks
// are given back and it is tried again; then Error{Overloaded, "OutOfMemoryError"} tells the sizes and what holds them.
std::unique_ptr<Memory> allocate(Device device, std::size_t bytes, base::Location site = base::Location::here());
// Host memory that copies reach without staging; cached as well. Throws Error{Unimplemented} where there is no GPU.
std::unique_ptr<Memory> allocate_pinned(std::size_t bytes);

struct AllocatorStatistics {
  std::uint64_t allocations = 0, reused = 0, frees = 0, driver_allocations = 0, retries = 0;
  std::size_t bytes_in_use = 0, bytes_in_use_peak = 0, bytes_cached = 0, bytes_waiting = 0;  // waiting: for streams
};
// Since the process began. Of the CPU nothing is counted.
AllocatorStatistics allocator_statistics(Device device);
void reset_peak(Device device);
// Gives every cached block back to the driver, or those of the CPU to malloc().
void empty_cache(Device device);

}  // namespace distrun::device
