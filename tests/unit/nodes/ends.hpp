#pragma once
// Ends of TCP connections for tests of links: pairs, and ones that send what a test wants.
#include <catch2/catch.hpp>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/store_server/tcp_address.hpp>

namespace distrun::nodes::ends {

inline constexpr int kPatienceMs = 30'000;

// A listener at a port of 127.0.0.1 that answers as a test wants.
class RawListener {
 public:
  explicit RawListener(std::uint16_t port = 0) {
    const stores::TcpAddress address = stores::resolve("127.0.0.1", port).front();
    socket_.reset(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::bind(socket_.get(), address.get(), address.size) == 0);
    REQUIRE(::listen(socket_.get(), 8) == 0);
  }
  std::uint16_t port() const { return stores::port_of(socket_.get()); }
  base::Fd accept() const {
    pollfd entry{socket_.get(), POLLIN, 0};
    if (::poll(&entry, 1, kPatienceMs) != 1) return {};
    return base::Fd(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }

 private:
  base::Fd socket_;
};

inline base::Fd raw_socket() { return base::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }
inline bool connect_to(const base::Fd& socket, std::uint16_t port) {
  const stores::TcpAddress address = stores::resolve("127.0.0.1", port).front();
  return ::connect(socket.get(), address.get(), address.size) == 0;
}
inline base::Fd connected_to(std::uint16_t port) {
  base::Fd socket = raw_socket();
  REQUIRE(connect_to(socket, port));
  return socket;
}

// Returns both ends of a connection.
inline base::FdPair tcp_pair() {
  const RawListener listener;
  base::Fd first = connected_to(listener.port());
  base::Fd second = listener.accept();
  REQUIRE(second);
  return {std::move(first), std::move(second)};
}

inline void say(const base::Fd& socket, std::string_view bytes) {
  (void)!::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

// Returns `size` bytes; fewer if the other end closes the connection before. It is served by another thread.
inline std::string hear(const base::Fd& socket, std::size_t size) {
  std::string bytes;
  char part[4096];
  while (bytes.size() < size) {
    pollfd entry{socket.get(), POLLIN, 0};
    if (::poll(&entry, 1, kPatienceMs) != 1) break;
    const ssize_t count = ::recv(socket.get(), part, std::min(sizeof part, size - bytes.size()), 0);
    if (count <= 0) break;
    bytes.append(part, static_cast<std::size_t>(count));
  }
  return bytes;
}

// Returns whether the other end has closed the connection; drops what it has sent.
inline bool is_closed(const base::Fd& socket) {
  char part[4096];
  for (;;) {
    const ssize_t count = ::recv(socket.get(), part, sizeof part, MSG_DONTWAIT);
    if (count <= 0) return count == 0 || (errno != EAGAIN && errno != EINTR);
  }
}
// Returns what has arrived.
inline std::string heard(const base::Fd& socket) {
  char part[4096];
  const ssize_t count = ::recv(socket.get(), part, sizeof part, MSG_DONTWAIT);
  return {part, static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
}

}  // namespace distrun::nodes::ends
