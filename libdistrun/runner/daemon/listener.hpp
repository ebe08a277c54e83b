#pragma once
// The socket on which the daemon listens: one that it makes, mode 0600, or one that systemd hands over (LISTEN_FDS).
#include <string>

#include <distrun/common/base/fd.hpp>

namespace distrun::daemon {

// Whether systemd has handed a socket over to this process.
bool is_activated();

class Listener {
 public:
  // Takes the one that was handed over, or makes one at `path`; what is there of a dead daemon is replaced, so the
  // instance's lock must be held. Throws Error{Failed}.
  explicit Listener(const std::string& path);
  // Removes the socket, if it was made here.
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // For a loop to own; nonblocking.
  base::Fd take_socket() { return std::move(socket_); }

 private:
  std::string path_;  // empty: not ours to remove
  base::Fd socket_;
};

}  // namespace distrun::daemon
