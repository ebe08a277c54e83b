#pragma once
// Socket addresses: IPv4, IPv6 and host names.
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

// Returns all addresses of `host`, in the system's order. Throws Error{InvalidArgument} if it has no address.
std::vector<TcpAddress> resolve(const std::string& host, std::uint16_t port);
std::uint16_t port_of(int socket);
// Returns whether a connected socket's ends have the same address, as they do within a host.
bool are_ends_of_one_host(int socket);
// Returns "localhost:29500", "[::1]:29500".
std::string place_of(const std::string& host, std::uint16_t port);

// Creates a socket that is close-on-exec and nonblocking, without Nagle's delay.
base::Fd make_tcp_socket(int family);

}  // namespace distrun::stores
