#pragma once
// Two events of a GPU around an operator: measures how long the device worked on it.
#include <memory>

#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/profiler/event.hpp>

namespace distrun::profiler {

class DevicePair {
 public:
  // Records on the current stream of the current device. Returns null without a device, or if it has failed.
  static std::unique_ptr<DevicePair> begin() noexcept;

  void end() noexcept;
  // Waits for the device, and adds the device time and the kernel to the event; nothing if the device has failed.
  void tell(Event& event) noexcept;

 private:
  explicit DevicePair(device::Stream stream);

  const device::Stream stream_;
  device::Event first_, last_;
};

}  // namespace distrun::profiler
