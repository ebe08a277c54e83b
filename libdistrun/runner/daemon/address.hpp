#pragma once
// The path of the daemon's socket: $DISTRUN_DAEMON_SOCKET, else daemon.sock in a folder that only the user can access:
// $XDG_RUNTIME_DIR/distrun, or /tmp/distrun-UID if there is no such directory.
#include <string>

namespace distrun::daemon {

// The path `given` by an option wins; empty: none. Throws Error{InvalidArgument} if it is relative or too long.
std::string socket_path(const std::string& given = "");

// Creates the socket's folder with mode 0700 if it is missing and one of the above. Throws Error{Failed} if the folder
// is not a directory, belongs to another user, or is writable for others, who could then put their socket there. One of
// the above must not even be readable for others.
void prepare_folder_of(const std::string& socket);

}  // namespace distrun::daemon
