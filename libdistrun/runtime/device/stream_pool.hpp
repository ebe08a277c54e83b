#pragma once
// What keeps the pools of streams (stream_from_pool()) of use when one of theirs is not.
#include <distrun/runtime/device/stream.hpp>

namespace distrun::device {

// A stream that waits for what never comes, or throws for ever, because a process has ended: if it is of a pool, a new
// one takes its place there. Who has it keeps it. Throws what the driver throws.
void replace_in_pool(Stream stream);

}  // namespace distrun::device
