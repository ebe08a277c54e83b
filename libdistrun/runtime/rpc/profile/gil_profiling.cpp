// enable_gil_profiling() of compat.hpp.
#include <distrun/runtime/rpc/calls/calls.hpp>
#include <distrun/runtime/rpc/compat.hpp>

namespace distrun::rpc {

void enable_gil_profiling(bool enabled) { current_calls()->server().handler_wait()->enable(enabled); }

}  // namespace distrun::rpc
