#pragma once
// Where others connect: a Unix socket under a name that nobody can guess, and, if asked for, a TCP socket. And the
// other end: dial(). All sockets are close-on-exec and do not block; those of TCP do not wait for more bytes to send.
#include <string>

#include <distrun/common/base/fd.hpp>

#include <agents/pipe/transports/address.hpp>

namespace distrun::agents::pipe {

class Listener {
 public:
  // `tcp_host` is an address of this machine, as a number; empty: no TCP. Throws Error{InvalidArgument} if it is none,
  // Error{Failed} if there is nothing to listen at.
  Listener(bool has_uds, const std::string& tcp_host);

  const Address& address() const noexcept { return address_; }
  int fd(SocketKind kind) const noexcept { return socket_of(kind).get(); }  // -1: not there
  // Empty: nobody waits. Throws Error{Overloaded} if the process, or the machine, has no descriptor left for it.
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
  int error = 0;  // an errno. EINPROGRESS: once it is writable, dial_error() says; EAGAIN: too many wait, later
};
// Throws Error{Failed} when descriptors run out.
Dialled dial(const Place& place);
int dial_error(int socket) noexcept;
// Returns whether there is no listener at any of these places. Returns false if one does not refuse within 200 ms.
bool is_deserted(const Address& address) noexcept;

// The first address of a network interface ("eth0"), as a number. Throws Error{InvalidArgument} if it has none.
std::string host_of_interface(const std::string& name);

}  // namespace distrun::agents::pipe
