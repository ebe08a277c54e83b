#pragma once
// The interface of drivers over the plain functions of the CUDA module. What CUDA knows itself is left to it; kept
// here is what texts and rules need: which memory and events there are, and what callbacks have thrown.
#include <memory>

#include <distrun/runtime/device/drivers/cuda/cuda_line.h>
#include <distrun/runtime/device/driver.hpp>

namespace distrun::device {

// `module` lives until the process ends.
std::unique_ptr<Driver> make_cuda_driver(const distrun_cuda_module& module, int devices);

}  // namespace distrun::device
