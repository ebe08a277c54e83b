#pragma once
// The contents of an IPC handle: the exporting process, and CUDA's bytes.
#include <cstdint>

#include <distrun/runtime/device/drivers/cuda/cuda_line.h>
#include <distrun/runtime/device/driver.hpp>

namespace distrun::device {

struct CudaHandle {
  std::int32_t pid = 0;
  unsigned char bytes[DISTRUN_CUDA_HANDLE_SIZE] = {};
};

IpcHandle pack(const CudaHandle& handle);
// Throws Error{InvalidArgument} for an invalid handle, or one that this process exported.
CudaHandle unpack(const IpcHandle& packed);

}  // namespace distrun::device
