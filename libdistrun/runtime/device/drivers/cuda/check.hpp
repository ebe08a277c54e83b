#pragma once
// Converts error codes of the CUDA module's functions to exceptions.
#include <distrun/runtime/device/drivers/cuda/cuda_line.h>

namespace distrun::device {

// Throws Error{Failed} if `error` is not 0: "CUDA cannot make a stream: ...".
void check_cuda(const distrun_cuda_module& module, int error, const char* doing);

}  // namespace distrun::device
