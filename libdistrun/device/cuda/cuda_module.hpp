#pragma once
// Real GPUs. The code that needs CUDA is a module, lib/distrun/distrun_cuda.so, which is opened when a driver is asked
// for and not before: a zygote that had touched CUDA could not be forked, and most processes need none.
#include <cstddef>
#include <memory>
#include <string>

#include <distrun/device/driver.hpp>
#include <distrun/device/stream.hpp>

namespace distrun::device {

struct CudaDriver {
  std::unique_ptr<Driver> driver;  // null: there is none
  std::string why_none;            // "no CUDA device: no CUDA-capable device is detected"
};

// With at most so many of the machine's devices; 0: all.
CudaDriver open_cuda_driver(int devices_most);

// The module's kernels: `count` contiguous floats of the stream's device. Throw Error{Unimplemented} if its driver is
// not CUDA's.
void cuda_fill(Stream stream, float* to, float value, std::size_t count);
void cuda_add(Stream stream, float* to, const float* a, const float* b, std::size_t count);
void cuda_mul(Stream stream, float* to, const float* a, const float* b, std::size_t count);

}  // namespace distrun::device
