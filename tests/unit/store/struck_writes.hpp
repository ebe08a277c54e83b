#pragma once
// Replaces the C library's system calls that change a store's file, for everything in this binary, so that a process
// can be killed in the middle of each of them.
#include <cstddef>

namespace distrun::stores::testing_strikes {

// Kills this process in its `call`-th call of pwrite, ftruncate or fallocate from now on, the first being 1: a pwrite
// after writing `parts` of `all` parts of its bytes, another call before (0 parts) or after it.
void strike(int call, int parts, int all);

}  // namespace distrun::stores::testing_strikes
