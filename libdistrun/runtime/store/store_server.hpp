#pragma once
// The table of TcpStores and the thread that serves it. A client that violates the protocol, or does not read its
// answers, is dropped; the others do not notice.
#include <cstdint>
#include <memory>
#include <string>

namespace distrun::stores {

class StoreServer {
 public:
  // Listens on the first usable address of `host`, at `port`; 0: at a free port. Throws Error{Failed}.
  StoreServer(const std::string& host, std::uint16_t port, std::string_view secret);
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
