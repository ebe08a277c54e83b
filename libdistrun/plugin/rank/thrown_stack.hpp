#pragma once
// Converts the stack of an exception's throw, from the plugin, into a message that also names the code's files.
#include <distrun/plugin/sdk/plugin.h>
#include <distrun/common/wire/stacks.hpp>

namespace distrun::rank {

// Call it on the thread that has thrown. Returns no thread and no module if the error has no stack, or comes from a
// plugin that was built before there were any.
wire::RawStacks thrown_stack(const distrun_error& error);

}  // namespace distrun::rank
