#pragma once
// Names and numbers of hosts as sockets take them: IPv4, IPv6 and names.
#include <cstdint>
#include <string>
#include <vector>

#include <sys/socket.h>

#include <distrun/common/base/fd.hpp>

namespace distrun::stores {

struct TcpAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;

  int family() const noexcept { return bytes.ss_family; }
  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&bytes); }
};

// All that the name has, in the system's order. Throws Error{InvalidArgument} for a name that has none.
std::vector<TcpAddress> resolve(const std::string& host, std::uint16_t port);
std::uint16_t port_of(int socket);
// "localhost:29500", "[::1]:29500".
std::string place_of(const std::string& host, std::uint16_t port);

// Close-on-exec, nonblocking, without delays for small messages.
base::Fd make_tcp_socket(int family);

}  // namespace distrun::stores
