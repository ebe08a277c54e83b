#pragma once
// A store that one of its users serves over TCP, for ranks of several machines, by IPv4 or IPv6. It serves only clients
// that prove that they know the secret.
#include <distrun/runtime/store/store.hpp>

namespace distrun::stores {

// Returns $DISTRUN_STORE_SECRET, which a run sets for its ranks; otherwise an empty text.
std::string default_store_secret();

// Options of a TcpStore.
struct TcpStoreOptions {
  std::uint16_t port = 0;  // 0: the server selects a free one
  bool is_server = false;  // set for one of the users
  int world_size = -1;     // number of users; -1: not known
  // The server's constructor blocks until all users have connected.
  bool wait_for_workers = true;
  base::Nanoseconds timeout = Store::kTimeout;  // also of connecting: a server may start after its clients
  // The same for all users. Use a random one: a process that connects may try to guess it.
  std::string secret = default_store_secret();
};

// A client of the store, or its server and a client. Thread-safe.
class TcpStore final : public Store {
 public:
  // Connects to `host`, or listens there and serves. Throws Error{InvalidArgument} for a name without an address,
  // Error{Timeout} if no server answers there within the timeout, Error{Disconnected} if the server does not know the
  // secret, speaks another version or is not a store, Error{Failed} if it can't listen.
  explicit TcpStore(const std::string& host, TcpStoreOptions options = {});
  // That of the server closes the store for all. In a forked process it closes nothing, and all other functions throw
  // Error{Failed}.
  ~TcpStore() override;

  const std::string& host() const noexcept;  // as passed to the constructor
  std::uint16_t port() const noexcept;       // the one in use
  void watch(const std::string& key, Watch watch) override;

 private:
  class Impl;

  Reply run(const Request& request, const WaitLimit& limit, Location site) override;
  void wait_for_workers(int world_size);

  std::unique_ptr<Impl> impl_;
};

}  // namespace distrun::stores

namespace distrun {
using stores::TcpStore;
using stores::TcpStoreOptions;
}  // namespace distrun
