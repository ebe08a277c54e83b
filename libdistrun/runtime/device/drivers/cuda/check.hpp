#pragma once
// What the CUDA module's functions return, as errors.
#include <distrun/runtime/device/drivers/cuda/cuda_line.h>

namespace distrun::device {

// Throws Error{Failed} unless it is 0: "CUDA cannot make a stream: ...".
void check_cuda(const distrun_cuda_module& module, int error, const char* doing);

}  // namespace distrun::device
