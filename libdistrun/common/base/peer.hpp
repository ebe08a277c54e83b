#pragma once
// The user at the other end of a Unix socket.

namespace distrun::base {

// Returns whether the peer runs as this user or root. The kernel recorded that at the time of the connection.
bool is_trusted_peer(int socket);

}  // namespace distrun::base
