#pragma once
// The streams that compute a value, and how users are ordered after them: later work of the users' streams waits on the
// device, and no host waits.
#include <vector>

#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/future/tensors_in.hpp>

namespace distrun::future {

// A GPU that a future's value may be on, from a number, a name or a Device: {0, "cuda:1", device::cuda(2)}. Does not
// check that it exists.
class FutureDevice {
 public:
  FutureDevice(int index);           // throws Error{InvalidArgument, "ValueError"} below 0
  FutureDevice(const char* name);    // "cuda:1"; throws as the next, and as parse_device()
  FutureDevice(device::Device gpu);  // throws Error{InvalidArgument, "ValueError"} for the CPU

  operator device::Device() const noexcept { return device_; }  // NOLINT(google-explicit-*)

 private:
  device::Device device_;
};

// Not thread-safe; once recorded, it may be shared by threads.
class ValueStreams {
 public:
  // Records the present work of the calling thread's current streams as the work that computes `tensors`. Throws
  // Error{InvalidArgument, "ValueError"} if some are on GPUs that are not `expected`, and records nothing then. Null:
  // all are allowed. `also`: GPUs to include even if no tensor is there.
  void record(TensorList tensors, const std::vector<device::Device>* expected,
              const std::vector<device::Device>& also = {});
  // Orders later work on the calling thread's current streams after the value, and keeps its memory from being reused
  // before that work is done.
  void follow() const;

 private:
  struct Point {
    device::Device device;
    device::Event event;
  };

  std::vector<Point> points_;
  TensorList tensors_;  // on GPUs; kept, since users may change the value
};

}  // namespace distrun::future
