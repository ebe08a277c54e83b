#pragma once
// A store whose table one of its users serves over TCP, for ranks of several machines. It speaks IPv4 and IPv6, and to
// nobody who does not know the secret.
#include <distrun/runtime/store/store.hpp>

namespace distrun::stores {

// $DISTRUN_STORE_SECRET, which a run gives to its ranks; else empty.
std::string default_store_secret();

struct TcpStoreOptions {
  std::uint16_t port = 0;  // 0, of the server only: one that is free
  bool is_server = false;  // of one of the users
  int world_size = -1;     // how many users there will be; -1: nobody counts
  // The server's constructor ends when all users have come.
  bool wait_for_workers = true;
  base::Nanoseconds timeout = Store::kTimeout;  // also to connect: a server may come later than its clients
  // The same for all, and random: a process that connects may try guesses on it.
  std::string secret = default_store_secret();
};

class TcpStore final : public Store {
 public:
  // Connects to `host`, or listens there and serves. Throws Error{InvalidArgument} for a name without an address,
  // Error{Timeout} if no server answers there within the timeout, Error{Disconnected} if what listens there does not
  // know the secret, speaks another version or is no store; and Error{Failed} if it can't listen.
  explicit TcpStore(const std::string& host, TcpStoreOptions options = {});
  // The server's ends the store for all. In a forked process nothing ends, and all other functions throw Error{Failed}.
  ~TcpStore() override;

  const std::string& host() const noexcept;
  std::uint16_t port() const noexcept;
  void watch(const std::string& key, Watch watch) override;

 private:
  class Impl;

  Reply run(const Request& request, base::TimePoint deadline, Location site) override;
  void wait_for_workers(int world_size);

  std::unique_ptr<Impl> impl_;
};

}  // namespace distrun::stores

namespace distrun {
using stores::TcpStore;
using stores::TcpStoreOptions;
}  // namespace distrun
