#include <distrun/runtime/device/drivers/cuda/handle.hpp>

#include <unistd.h>

#include <cstring>

#include <distrun/common/base/error.hpp>

namespace distrun::device {

IpcHandle pack(const CudaHandle& handle) {
  IpcHandle packed;
  packed.bytes.resize(sizeof handle);
  std::memcpy(packed.bytes.data(), &handle, sizeof handle);
  return packed;
}

CudaHandle unpack(const IpcHandle& packed) {
  CudaHandle handle;
  if (packed.bytes.size() != sizeof handle) {
    throw Error(ErrorKind::InvalidArgument,
                "not a CUDA handle: it has " + std::to_string(packed.bytes.size()) + " bytes");
  }
  std::memcpy(&handle, packed.bytes.data(), sizeof handle);
  if (handle.pid == ::getpid()) {
    throw Error(ErrorKind::InvalidArgument, "the handle was created by this process, which does not need it");
  }
  return handle;
}

}  // namespace distrun::device
