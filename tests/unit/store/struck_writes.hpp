#pragma once
// The system calls that change a store's file, in the place of the C library's for everything in this binary: so a
// process can be killed in the middle of each of them.
#include <cstddef>

namespace distrun::stores::testing_strikes {

// Kills this process in its `call`-th call of pwrite, ftruncate or fallocate from now on, the first being 1: a pwrite
// when `parts` of `all` parts of its bytes are written, another one before (0 parts) or after it.
void strike(int call, int parts, int all);

}  // namespace distrun::stores::testing_strikes
