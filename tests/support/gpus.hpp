#pragma once
// The GPUs that a binary's tests run on: two, whose stream order is checked. Of the virtual driver or of an emulated
// CUDA: a binary is linked with the one or the other (distrun_test_gpus_virtual, distrun_test_gpus_cuda). With
// DISTRUN_TEST_GPUS=cuda in the environment the latter runs on this machine's GPUs, of which there may be one only, and
// no stream order is checked.
#include <cstdlib>
#include <string_view>

#include <distrun/runtime/device/gpu.hpp>

#include "skip.hpp"

namespace distrun::testing {

// Before the first use of devices; later calls do nothing.
void use_gpus();

inline bool wants_real_gpus() {
  const char* const wanted = std::getenv("DISTRUN_TEST_GPUS");
  return wanted != nullptr && std::string_view(wanted) == "cuda";
}

// The same, and the case is skipped where no stream order is checked.
inline void use_checked_gpus() {
  skip_case_if(wants_real_gpus(), "a real GPU does not check the order of streams");
  use_gpus();
}

// Returns another GPU than the first, or the first where it is the only one.
inline device::Device other_gpu() {
  use_gpus();
  return device::cuda(device::gpu_count() > 1 ? 1 : 0);
}

}  // namespace distrun::testing
