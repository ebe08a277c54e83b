#include <distrun/runtime/rpc/profile/gil_profiling.hpp>

#include <distrun/runtime/rpc/calls/calls.hpp>

namespace distrun::rpc {

void enable_gil_profiling(bool enabled) { current_calls()->server().handler_wait()->enable(enabled); }

}  // namespace distrun::rpc
