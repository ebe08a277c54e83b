#pragma once
// A piece of a device's memory, and the statistics of allocators.
#include <cstddef>
#include <cstdint>

#include <distrun/runtime/device/device.hpp>

namespace distrun::device {

// Bytes of a device. Immovable; shared by the storages that use it. Its destructor frees it, on any thread.
class Memory {
 public:
  virtual ~Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  void* data() const noexcept { return data_; }          // an address of the device
  std::size_t bytes() const noexcept { return bytes_; }  // as requested
  Device device() const noexcept { return device_; }     // that owns it
  // Records that work on that stream uses the bytes; kNoStream is ignored.
  virtual void record_stream(StreamRef stream) = 0;
  // Returns whether all recorded work on the bytes is on that stream: they were allocated for it, and no other stream
  // was recorded. False if unknown. Memory of the CPU has no streams: true.
  virtual bool is_used_only_by(StreamRef /*stream*/) const { return false; }

 protected:
  // Derived classes own `data` and free it.
  Memory(Device device, void* data, std::size_t bytes) : data_(data), bytes_(bytes), device_(device) {}

 private:
  void* data_;
  std::size_t bytes_;
  Device device_;
};

// Counts of one device's allocator.
struct AllocatorStatistics {
  // Calls of allocate(), those of them that were served from the cache, blocks that were freed, allocations of the
  // driver, and those that were repeated after the cache was emptied.
  std::uint64_t allocations = 0, reused = 0, frees = 0, driver_allocations = 0, retries = 0;
  // In use now and at most; cached; and freed, but waiting for work of other streams.
  std::size_t bytes_in_use = 0, bytes_in_use_peak = 0, bytes_cached = 0, bytes_waiting = 0;
};

}  // namespace distrun::device
