#pragma once
// The table of TcpStores, and the thread that serves it. Clients come and go; one that sends what is none of the
// protocol, or does not read what it asked for, is dropped, and the others notice nothing.
#include <cstdint>
#include <memory>
#include <string>

namespace distrun::stores {

class StoreServer {
 public:
  // Listens on the addresses that `host` has here, at `port`, or where 0 at one that is free. Throws Error{Failed}.
  StoreServer(const std::string& host, std::uint16_t port, std::string_view secret);
  // Its clients get Error{Disconnected}.
  ~StoreServer();
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

  std::uint16_t port() const noexcept;
  // Returns how many connections were refused: they spoke another version, or did not prove that they know the secret.
  int refused() const noexcept;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace distrun::stores
