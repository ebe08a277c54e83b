#include <distrun/runtime/device/stream_pool.hpp>

#include <array>
#include <atomic>
#include <mutex>

namespace distrun::device {
namespace {

constexpr std::size_t kPoolSize = 32;  // per priority

// A device's streams of one priority, created on first use.
struct Pool {
  std::once_flag made;
  std::array<std::atomic<StreamId>, kPoolSize> streams;
  std::atomic<std::size_t> next{0};
};

Pool& pool_of(Device device, Priority priority) {
  static auto* const pools = new std::array<std::array<Pool, 2>, kDevicesMax>;  // never destroyed: statics may use it
  return (*pools)[static_cast<std::size_t>(device.index)][static_cast<std::size_t>(priority)];
}

}  // namespace

Stream stream_from_pool(Device device, Priority priority) {
  if (device.is_cpu()) return default_stream(device);
  Driver& driver = driver_of(device);
  Pool& pool = pool_of(device, priority);
  std::call_once(pool.made, [&] {
    for (std::atomic<StreamId>& stream : pool.streams) stream = driver.make_stream(device.index, priority);
  });
  return {device, pool.streams[pool.next++ % kPoolSize]};
}

void replace_in_pool(Stream stream) {
  if (stream.device().is_cpu()) return;
  for (const Priority priority : {Priority::Normal, Priority::High}) {
    for (std::atomic<StreamId>& each : pool_of(stream.device(), priority).streams) {
      if (each != stream.ref().id || stream.ref().id == StreamId{}) continue;
      each = stream.driver().make_stream(stream.device().index, priority);
      return;
    }
  }
}

}  // namespace distrun::device
