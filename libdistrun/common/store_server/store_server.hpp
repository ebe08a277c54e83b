#pragma once
// The table of TcpStores and the thread that serves it. A client that violates the protocol, or does not read its
// answers, is dropped; the others do not notice.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/store_server/server_limits.hpp>

namespace distrun::stores {

// Listens at the first address of `host` that permits it, at `port`; 0: at a free port, see port_of(). The socket does
// not block. Throws Error{InvalidArgument} if the host has no address, Error{Failed} if none permits it.
base::Fd listen_for_store(const std::string& host, std::uint16_t port);

// Serves an empty store at the socket `listening` on the calling thread, for a process that does nothing else. Returns
// when `ends_with`, a pipe's end that reads, is at its end: all processes have closed the other one. Throws
// Error{Failed, Overloaded} if it cannot begin.
void serve_store(base::Fd listening, std::string_view secret, base::Fd ends_with, const ServerLimits& limits = {});

class StoreServer {
 public:
  // Listens on the first usable address of `host`, at `port`; 0: at a free port. Throws Error{Failed}.
  StoreServer(const std::string& host, std::uint16_t port, std::string_view secret, const ServerLimits& limits = {});
  // Clients get Error{Disconnected}.
  ~StoreServer();
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

  std::uint16_t port() const noexcept;
  // Returns how many connections were refused because of another version or a missing proof of the secret.
  int refused() const noexcept;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace distrun::stores
