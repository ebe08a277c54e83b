#pragma once
// Where the daemon's socket is: $DISTRUN_DAEMON_SOCKET, else daemon.sock in a folder that belongs to the user alone:
// $XDG_RUNTIME_DIR/distrun, or /tmp/distrun-UID where there is no such directory.
#include <string>

namespace distrun::daemon {

// `given` by an option wins; empty: none. Throws Error{InvalidArgument} for a path that is relative or too long for a
// socket.
std::string socket_path(const std::string& given = "");

// Makes the socket's folder with mode 0700, if it is one of the above and missing. Throws Error{Failed} if the folder
// is no directory, another user's, or one that others can write to, who could then put a socket of theirs there; one of
// the above must not even be readable for them.
void prepare_folder_of(const std::string& socket);

}  // namespace distrun::daemon
