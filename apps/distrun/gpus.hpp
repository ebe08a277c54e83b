#pragma once
// How many CUDA devices tests of this machine can have, without touching CUDA: a coordinator that had could not fork.

namespace distrun::cli {

// 0 where this distrun has no CUDA module, too. $CUDA_VISIBLE_DEVICES may hide some.
int cuda_devices();

}  // namespace distrun::cli
