#pragma once
// Replaces unusable streams in the pools of stream_from_pool().
#include <distrun/runtime/device/stream.hpp>

namespace distrun::device {

// Replaces a stream that waits forever, or always throws, because a process has ended, if it belongs to a pool. Present
// users keep it. Throws what the driver throws.
void replace_in_pool(Stream stream);

}  // namespace distrun::device
