#include <distrun/common/store_server/tcp_address.hpp>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include <distrun/common/base/error.hpp>

namespace distrun::stores {

std::vector<TcpAddress> resolve(const std::string& host, std::uint16_t port) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
  if (error != 0) {
    const std::string why = error == EAI_SYSTEM ? base::errno_text(errno) : ::gai_strerror(error);
    throw Error(ErrorKind::InvalidArgument, "the host \"" + host + "\" has no address: " + why);
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> list(found, ::freeaddrinfo);
  std::vector<TcpAddress> addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    TcpAddress& address = addresses.emplace_back();
    std::memcpy(&address.bytes, each->ai_addr, each->ai_addrlen);
    address.size = each->ai_addrlen;
  }
  return addresses;
}

namespace {

// Returns the bytes of the address, without the port; empty for another family.
std::string host_bytes(const TcpAddress& address) {
  const auto bytes_of = [](const auto& host) { return std::string(reinterpret_cast<const char*>(&host), sizeof host); };
  if (address.family() == AF_INET) return bytes_of(reinterpret_cast<const sockaddr_in*>(&address.bytes)->sin_addr);
  if (address.family() == AF_INET6) return bytes_of(reinterpret_cast<const sockaddr_in6*>(&address.bytes)->sin6_addr);
  return "";
}

}  // namespace

bool are_ends_of_one_host(int socket) {
  TcpAddress own, peer;
  own.size = peer.size = sizeof own.bytes;
  const bool are_known = ::getsockname(socket, reinterpret_cast<sockaddr*>(&own.bytes), &own.size) == 0 &&
                         ::getpeername(socket, reinterpret_cast<sockaddr*>(&peer.bytes), &peer.size) == 0;
  return are_known && !host_bytes(own).empty() && host_bytes(own) == host_bytes(peer);
}

std::uint16_t port_of(int socket) {
  TcpAddress address;
  address.size = sizeof address.bytes;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address.bytes), &address.size) != 0) {
    base::throw_errno("cannot get the port of a socket", errno);
  }
  const bool is_v6 = address.family() == AF_INET6;
  return ntohs(is_v6 ? reinterpret_cast<const sockaddr_in6*>(&address.bytes)->sin6_port
                     : reinterpret_cast<const sockaddr_in*>(&address.bytes)->sin_port);
}

std::string place_of(const std::string& host, std::uint16_t port) {
  const bool is_v6 = host.find(':') != std::string::npos;
  return (is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

base::Fd make_tcp_socket(int family) {
  base::Fd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) base::throw_errno("cannot create a socket", errno);
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

}  // namespace distrun::stores
