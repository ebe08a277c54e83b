#include <distrun/runtime/device/memory/allocator.hpp>

#include <array>
#include <mutex>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/device/drivers/cpu/block_cache.hpp>
#include <distrun/runtime/device/drivers/cpu/cpu_memory.hpp>
#include <distrun/runtime/device/gpu.hpp>
#include <distrun/runtime/device/memory/caching_allocator.hpp>
#include <distrun/runtime/device/memory/pinned_cache.hpp>
#include <distrun/runtime/device/stream.hpp>

namespace distrun::device {
namespace {

// An allocation of 0 bytes of a device.
class NoMemory final : public Memory {
 public:
  explicit NoMemory(Device device) : Memory(device, nullptr, 0) {}
  void record_stream(StreamRef) override {}
  bool is_used_only_by(StreamRef) const override { return true; }
};

// The process's caches. Never destroyed: memory may be released until the process ends.
struct Caches {
  std::array<std::once_flag, kDevicesMax> made;
  std::array<CachingAllocator*, kDevicesMax> of_devices{};
  std::once_flag pinned_made;
  PinnedCache* pinned = nullptr;
};

Caches& caches() {
  static auto* const only = new Caches;
  return *only;
}

CachingAllocator& allocator_of(Device device) {
  Driver& driver = driver_of(device);
  const auto index = static_cast<std::size_t>(device.index);
  std::call_once(caches().made[index],
                 [&] { caches().of_devices[index] = new CachingAllocator(driver, device.index); });
  return *caches().of_devices[index];
}

PinnedCache& pinned_cache() {
  Driver& driver = gpu_driver();
  std::call_once(caches().pinned_made, [&] { caches().pinned = new PinnedCache(driver); });
  return *caches().pinned;
}

}  // namespace

std::unique_ptr<Memory> allocate(Device device, std::size_t bytes, base::Location site) {
  if (device.is_cpu()) return allocate_on_cpu(bytes);
  CachingAllocator& allocator = allocator_of(device);
  if (bytes == 0) return std::make_unique<NoMemory>(device);
  return allocator.allocate(bytes, current_stream(device).ref().id, site);
}

std::unique_ptr<Memory> allocate_pinned(std::size_t bytes) { return pinned_cache().allocate(bytes); }

AllocatorStatistics allocator_statistics(Device device) {
  return device.is_cpu() ? AllocatorStatistics() : allocator_of(device).statistics();
}

void reset_peak(Device device) {
  if (!device.is_cpu()) allocator_of(device).reset_peak();
}

void empty_cache(Device device) {
  if (device.is_cpu()) return free_kept_blocks();
  allocator_of(device).empty_cache();
}

}  // namespace distrun::device
