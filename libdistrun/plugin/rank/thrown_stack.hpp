#pragma once
// The stack of an exception's throw as it travels: what the plugin has found of it, with the files that hold its code.
#include <distrun/plugin/sdk/plugin.h>
#include <distrun/common/wire/stacks.hpp>

namespace distrun::rank {

// On the thread that has thrown. No thread and no module if the error has no stack, or comes from a plugin that was
// built before there were any.
wire::RawStacks thrown_stack(const distrun_error& error);

}  // namespace distrun::rank
