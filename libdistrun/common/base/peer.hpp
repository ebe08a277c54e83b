#pragma once
// Who is at the other end of a Unix socket.

namespace distrun::base {

// Whether the process that connected, or listens, is this user's, or root's. The kernel remembers it from the moment of
// the connection.
bool is_trusted_peer(int socket);

}  // namespace distrun::base
