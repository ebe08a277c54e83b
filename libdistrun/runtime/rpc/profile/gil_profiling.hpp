#pragma once
// Measures how long a session's calls wait for threads (handler_wait.hpp). Initially off.

namespace distrun::rpc {

// Turns the measurement, which rpc::debug_info() reports, on or off for the session of the calling thread's rank.
// Throws Error{Failed} without RPC.
void enable_gil_profiling(bool enabled);

}  // namespace distrun::rpc
