#pragma once
// Real GPUs. The code that needs CUDA is a module (runtime/core/module.hpp), opened when a driver is requested.
#include <memory>
#include <string>

#include <distrun/runtime/device/driver.hpp>

namespace distrun::device {

struct CudaDriver {
  std::unique_ptr<Driver> driver;  // null: not available
  std::string why_none;            // "no CUDA device: no CUDA-capable device is detected"
};

// Uses at most `devices_most` of the machine's devices; 0: all.
CudaDriver open_cuda_driver(int devices_most);

}  // namespace distrun::device
