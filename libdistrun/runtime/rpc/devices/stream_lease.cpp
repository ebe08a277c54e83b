#include <distrun/runtime/rpc/devices/stream_lease.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/device/stream_pool.hpp>

namespace distrun::rpc {
namespace {

constexpr std::size_t kLookedAt = 4;  // of the most recently returned streams

}  // namespace

// That a stream is idle by chance must not affect the order. So this asks as the allocator does, about unused memory.
device::Stream StreamPool::take(device::Device device) {
  static std::byte nothing{};
  const std::lock_guard lock(mutex_);
  Pool& pool = pools_.try_emplace(device, device::driver_of(device)).first->second;
  for (std::size_t i = 0; i < std::min(kLookedAt, pool.idle.size()); ++i) {
    const auto at = pool.idle.end() - 1 - static_cast<std::ptrdiff_t>(i);
    if (!pool.events.driver().is_done_with(&nothing, 1, at->event)) continue;
    const Idle idle = *at;
    pool.idle.erase(at);
    pool.events.give(device.index, idle.event);
    return idle.stream;
  }
  return device::stream_from_pool(device);
}

void StreamPool::give(device::Stream stream) noexcept {
  constexpr std::size_t kKept = 64;
  try {
    const std::lock_guard lock(mutex_);
    Pool& pool = pools_.at(stream.device());
    if (pool.gone.contains(stream)) return;
    for (const Idle& each : pool.idle) {
      if (each.stream == stream) return;  // with more calls than streams, another call had it at the same time
    }
    if (pool.idle.size() < kKept) pool.idle.push_back({stream, pool.events.record(stream.ref())});
  } catch (const std::exception&) {
    return;  // drops the stream, since it can no longer be used
  }
}

void StreamPool::replace(device::Stream stream) {
  {
    const std::lock_guard lock(mutex_);
    Pool& pool = pools_.try_emplace(stream.device(), stream.driver()).first->second;
    pool.gone.insert(stream);
    std::erase_if(pool.idle, [&](const Idle& each) { return each.stream == stream; });
  }
  device::replace_in_pool(stream);
}

StreamLease::StreamLease(std::shared_ptr<StreamPool> pool, const std::vector<device::Device>& devices)
    : pool_(std::move(pool)) {
  for (const device::Device each : devices) {
    streams_.push_back(pool_->take(each));
    device::set_current_stream(streams_.back());
  }
}

StreamLease::~StreamLease() {
  for (const device::Stream each : streams_) pool_->give(each);
}

}  // namespace distrun::rpc
