#pragma once
// An object of this worker that calls work on, each on streams of its own.
#include <vector>

#include <distrun/runtime/device/device.hpp>

namespace distrun::rpc {

class WorkedOn {
 public:
  virtual ~WorkedOn() = default;
  // What a call has done with it is on the calling thread's current streams of these GPUs: others come after that.
  virtual void end_work(const std::vector<device::Device>& devices) noexcept = 0;
};

}  // namespace distrun::rpc
