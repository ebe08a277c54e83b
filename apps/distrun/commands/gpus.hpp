#pragma once
// How many CUDA devices tests of this machine can have, without touching CUDA: a coordinator that had could not fork.

#include <string>

namespace distrun::cli {

struct CudaDevices {
  int count = 0;
  std::string why_none;  // "this machine has no NVIDIA device"; empty: there are some
};

// None where this distrun has no CUDA module, too. $CUDA_VISIBLE_DEVICES may hide some.
CudaDevices find_cuda_devices();
// Counts the device nodes in `folder`, which is /dev but in tests, as far as $CUDA_VISIBLE_DEVICES shows them.
CudaDevices count_cuda_devices(const std::string& folder);

}  // namespace distrun::cli
