#pragma once
// Reference code compiled for the building machine (-march=native), as a separate program would be.
#include <cstdint>

namespace distrun::bench {

// c = a b, all of size x size, row-major.
void multiply_with_eigen(float* c, const float* a, const float* b, std::int64_t size);
// c[i] = a[i] + b[i].
void triad(float* c, const float* a, const float* b, std::int64_t count);

}  // namespace distrun::bench
