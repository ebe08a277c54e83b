#pragma once
// An object of this worker that calls use, each on separate streams.
#include <vector>

#include <distrun/runtime/device/device.hpp>

namespace distrun::rpc {

class WorkedOn {
 public:
  virtual ~WorkedOn() = default;
  // Called when a call's work on the object is on the thread's current streams of these GPUs; later calls follow it.
  virtual void end_work(const std::vector<device::Device>& devices) noexcept = 0;
};

}  // namespace distrun::rpc
