#pragma once
// Whether a session measures how long its calls wait for threads (handler_wait.hpp). Off, as it begins.

namespace distrun::rpc {

// For the session of the calling thread's rank: rpc::debug_info() tells it from now on, or no more. Throws
// Error{Failed} without RPC.
void enable_gil_profiling(bool enabled);

}  // namespace distrun::rpc
