#pragma once
// Ends of a TCP store's connection that send what a test wants.
#include <catch2/catch.hpp>

#include <poll.h>
#include <sys/socket.h>

#include <string>
#include <string_view>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/store_server/tcp_address.hpp>
#include <distrun/common/store_server/tcp_protocol.hpp>

namespace distrun::stores::raw {

inline constexpr int kPatienceMs = 30'000;

inline void say(const base::Fd& socket, std::string_view bytes) {
  (void)!::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

// Returns `size` bytes; fewer if the other end closes the connection before.
inline std::string hear(const base::Fd& socket, std::size_t size) {
  std::string bytes;
  char part[4096];
  while (bytes.size() < size) {
    pollfd entry{socket.get(), POLLIN, 0};
    if (::poll(&entry, 1, kPatienceMs) != 1) FAIL("the other end neither sends nor closes");
    const ssize_t count = ::recv(socket.get(), part, std::min(sizeof part, size - bytes.size()), 0);
    if (count <= 0) break;
    bytes.append(part, static_cast<std::size_t>(count));
  }
  return bytes;
}
// Returns everything that the other end sends until it closes the connection.
inline std::string hear_all(const base::Fd& socket) { return hear(socket, std::size_t{1} << 30); }

// Connects with a blocking socket, as any process may.
inline base::Fd connect_raw(std::uint16_t port) {
  for (const TcpAddress& address : resolve("localhost", port)) {
    base::Fd socket(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(socket.get(), address.get(), address.size) == 0) return socket;
  }
  FAIL("there is no listener");
  return {};
}

// Sends a Hello with a new nonce, and returns both nonces.
inline proof::Nonces challenge(const base::Fd& socket) {
  proof::Nonces nonces{proof::make_nonce(), {}};
  say(socket, std::string(kHandshake.connector_magic) + nonces.connector);
  const std::string answer = hear(socket, kAnswerSize);
  REQUIRE(answer.size() == kAnswerSize);
  nonces.listener = answer.substr(kMagicSize, proof::kNonceSize);
  return nonces;
}
// Does the whole handshake of a client, without checking the server's proof.
inline void greet_as_client(const base::Fd& socket, std::string_view secret) {
  const proof::Nonces nonces = challenge(socket);
  say(socket, proof::prove(secret, kHandshake.name, proof::Side::Connector, nonces));
}

// A listener at a port of 127.0.0.1.
class RawListener {
 public:
  RawListener() {
    const TcpAddress address = resolve("127.0.0.1", 0).front();
    socket_.reset(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::bind(socket_.get(), address.get(), address.size) == 0);
    REQUIRE(::listen(socket_.get(), 8) == 0);
  }
  std::uint16_t port() const { return port_of(socket_.get()); }
  base::Fd accept() const {
    pollfd entry{socket_.get(), POLLIN, 0};
    if (::poll(&entry, 1, kPatienceMs) != 1) FAIL("there is no client");
    return base::Fd(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }

 private:
  base::Fd socket_;
};

}  // namespace distrun::stores::raw
