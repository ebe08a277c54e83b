#pragma once
// What a handle of CUDA's is, for other processes: which process has made it, and CUDA's own bytes.
#include <cstdint>

#include <distrun/runtime/device/drivers/cuda/cuda_line.h>
#include <distrun/runtime/device/driver.hpp>

namespace distrun::device {

struct CudaHandle {
  std::int32_t pid = 0;
  unsigned char bytes[DISTRUN_CUDA_HANDLE_SIZE] = {};
};

IpcHandle pack(const CudaHandle& handle);
// Throws Error{InvalidArgument} for one that is none, or that this very process has made.
CudaHandle unpack(const IpcHandle& packed);

}  // namespace distrun::device
