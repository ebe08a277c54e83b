#pragma once
// How much a rank may send to another in one message: the rank refuses more, and the SDK says why.
#include <cstddef>

namespace distrun::base {

inline constexpr std::size_t kMessageMiB = 16;
inline constexpr std::size_t kMessageMax = kMessageMiB << 20;

}  // namespace distrun::base
