#pragma once
// Listening sockets: a Unix socket under a random name, and, on request, a TCP socket. And the connecting end: dial().
// All sockets are close-on-exec and non-blocking; TCP sockets use TCP_NODELAY.
#include <string>

#include <distrun/common/base/fd.hpp>

#include <agents/pipe/transports/address.hpp>

namespace distrun::agents::pipe {

class Listener {
 public:
  // `tcp_host` is a numeric address of this machine; empty: no TCP. Throws Error{InvalidArgument} if it is invalid,
  // Error{Failed} if listening fails.
  Listener(bool has_uds, const std::string& tcp_host);

  const Address& address() const noexcept { return address_; }
  int fd(SocketKind kind) const noexcept { return socket_of(kind).get(); }  // -1: not there
  // Returns an empty descriptor if no peer waits. Throws Error{Overloaded} if no descriptor is left for it.
  base::Fd accept(SocketKind kind) const;
  void close() noexcept;

 private:
  const base::Fd& socket_of(SocketKind kind) const noexcept { return kind == SocketKind::Uds ? uds_ : tcp_; }

  base::Fd uds_;
  base::Fd tcp_;
  Address address_;
};

struct Dialled {
  base::Fd socket;
  int error = 0;  // an errno. EINPROGRESS: once writable, see dial_error(); EAGAIN: queue full, retry later
};
// Throws Error{Failed} if no descriptor is left.
Dialled dial(const Place& place);
int dial_error(int socket) noexcept;
// Returns whether there is no listener at any of these places. Returns false if one does not refuse within 200 ms.
// Throws as dial().
bool is_deserted(const Address& address);

// Returns the first address of a network interface ("eth0") as a number. Throws Error{InvalidArgument} without one.
std::string host_of_interface(const std::string& name);

}  // namespace distrun::agents::pipe
