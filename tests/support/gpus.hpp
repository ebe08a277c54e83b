#pragma once
// The GPUs that a binary's tests run on: two, whose stream order is checked. Of the virtual driver or of an emulated
// CUDA: a binary is linked with the one or the other (distrun_test_gpus_virtual, distrun_test_gpus_cuda).

namespace distrun::testing {

// Before the first use of devices; later calls do nothing.
void use_gpus();

}  // namespace distrun::testing
