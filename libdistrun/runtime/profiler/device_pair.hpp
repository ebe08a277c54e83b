#pragma once
// Two events of a GPU around an operator: how long the device was at what the operator has given it.
#include <memory>

#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/profiler/event.hpp>

namespace distrun::profiler {

class DevicePair {
 public:
  // On the current stream of the current device. Null: there is none, or it has failed.
  static std::unique_ptr<DevicePair> begin() noexcept;

  void end() noexcept;
  // Waits for the device. The event gets its device time, and the kernel; nothing if the device has failed.
  void tell(Event& event) noexcept;

 private:
  explicit DevicePair(device::Stream stream);

  const device::Stream stream_;
  device::Event first_, last_;
};

}  // namespace distrun::profiler
