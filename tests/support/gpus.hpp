#pragma once
// The GPUs that a binary's tests run on: two, with the order of streams checked. They come from the virtual driver or
// from an emulated CUDA, depending on the library that the binary is linked with (distrun_test_gpus_virtual,
// distrun_test_gpus_cuda). With DISTRUN_TEST_GPUS=cuda in the environment, the latter uses this machine's GPUs: there
// may be only one, and the order of streams is not checked.
#include <cstdlib>
#include <string_view>

#include <distrun/runtime/device/gpu.hpp>

#include "skip.hpp"

namespace distrun::testing {

// Sets up the GPUs; call before the first use of devices. Later calls do nothing.
void use_gpus();

inline bool wants_real_gpus() {
  const char* const wanted = std::getenv("DISTRUN_TEST_GPUS");
  return wanted != nullptr && std::string_view(wanted) == "cuda";
}

// Like use_gpus(), but skips the case if the order of streams is not checked.
inline void use_checked_gpus() {
  skip_case_if(wants_real_gpus(), "a real GPU does not check the order of streams");
  use_gpus();
}

// Returns a GPU other than the first, or the first if it is the only one.
inline device::Device other_gpu() {
  use_gpus();
  return device::cuda(device::gpu_count() > 1 ? 1 : 0);
}

}  // namespace distrun::testing
