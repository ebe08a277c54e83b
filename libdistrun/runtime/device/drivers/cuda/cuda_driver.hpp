#pragma once
// The driver interface over the plain functions of the CUDA module. Keeps only the data that errors and rules need and
// CUDA does not provide: existing memory and events, and the exceptions of callbacks.
#include <memory>

#include <distrun/runtime/device/drivers/cuda/cuda_line.h>
#include <distrun/runtime/device/driver.hpp>

namespace distrun::device {

// `module` must live until the process ends.
std::unique_ptr<Driver> make_cuda_driver(const distrun_cuda_module& module, int devices);

}  // namespace distrun::device
