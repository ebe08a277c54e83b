#pragma once
// On which streams a value was made, and how others come to use it: what they do later waits there for what the makers
// had asked for, and no host waits.
#include <vector>

#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/future/tensors_in.hpp>

namespace distrun::future {

// GPUs that a future's value may be on; made of a number, a name or a Device: {0, "cuda:1", device::cuda(2)}. Whether
// they exist is not asked.
class FutureDevice {
 public:
  FutureDevice(int index);           // throws Error{InvalidArgument, "ValueError"} below 0
  FutureDevice(const char* name);    // "cuda:1"; throws as the next, and as parse_device()
  FutureDevice(device::Device gpu);  // throws Error{InvalidArgument, "ValueError"} for the CPU

  operator device::Device() const noexcept { return device_; }  // NOLINT(google-explicit-*)

 private:
  device::Device device_;
};

// Not thread-safe; once recorded, threads may share it.
class ValueStreams {
 public:
  // `tensors` are in the hands of the calling thread: what its current streams have to do by now is what makes them.
  // Throws Error{InvalidArgument, "ValueError"} if some are on GPUs that are not `expected`, and records nothing then.
  // Null: any may be. `also`: GPUs whose current streams count, whether the value has something there or not.
  void record(TensorList tensors, const std::vector<device::Device>* expected,
              const std::vector<device::Device>& also = {});
  // What comes later on the calling thread's current streams comes after the value, and its memory is not given to
  // others before that.
  void follow() const;

 private:
  struct Point {
    device::Device device;
    device::Event event;
  };

  std::vector<Point> points_;
  TensorList tensors_;  // on GPUs; kept, since whoever has the value may change what is in it
};

}  // namespace distrun::future
