#pragma once
// Finds a free TCP port.

namespace distrun::base {

// Returns a port of 127.0.0.1 that was free at the time of the call. Another process may take it first, so bind port 0
// instead where possible. Thread-safe. Throws Error{Failed} if no port is free.
int find_free_port();

}  // namespace distrun::base
