#pragma once
// The size limit of one message between ranks. The rank refuses larger ones; the SDK reports the reason.
#include <cstddef>

namespace distrun::base {

inline constexpr std::size_t kMessageMiB = 16;
inline constexpr std::size_t kMessageMax = kMessageMiB << 20;

}  // namespace distrun::base
