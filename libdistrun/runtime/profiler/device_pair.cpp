#include <distrun/runtime/profiler/device_pair.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/device/gpu.hpp>

namespace distrun::profiler {

DevicePair::DevicePair(device::Stream stream)
    : stream_(stream), first_(device::EventOptions{.timing = true}), last_(device::EventOptions{.timing = true}) {
  first_.record(stream_);
}

std::unique_ptr<DevicePair> DevicePair::begin() noexcept {
  if (device::gpu_count() == 0) return nullptr;
  try {
    const device::Device current = device::cuda(device::current_device());
    return std::unique_ptr<DevicePair>(new DevicePair(device::current_stream(current)));
  } catch (const std::exception&) {
    return nullptr;
  }
}

void DevicePair::end() noexcept {
  try {
    last_.record(stream_);
  } catch (const std::exception&) {
    return;  // the operator reports errors of its device
  }
}

void DevicePair::tell(Event& event) noexcept {
  try {
    last_.synchronize();
    event.device_time = first_.elapsed(last_);
    event.kernels.push_back({event.name, stream_.device().index, event.device_time});
  } catch (const std::exception&) {
    event.device_time = {};
  }
}

}  // namespace distrun::profiler
