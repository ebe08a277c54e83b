#pragma once
// The daemon's listening socket: created here with mode 0600, or passed by systemd (LISTEN_FDS).
#include <string>

#include <distrun/common/base/fd.hpp>

namespace distrun::daemon {

// Returns whether systemd has passed a socket to this process.
bool is_activated();

class Listener {
 public:
  // Takes the passed socket, or creates one at `path`. Replaces the socket of a dead daemon, so the caller must hold
  // the InstanceLock. Throws Error{Failed}.
  explicit Listener(const std::string& path);
  // Removes the socket if it was created here.
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // Returns the nonblocking socket, for a loop to own.
  base::Fd take_socket() { return std::move(socket_); }

 private:
  std::string path_;  // empty: the socket was not created here
  base::Fd socket_;
};

}  // namespace distrun::daemon
