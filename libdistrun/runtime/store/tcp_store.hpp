#pragma once
// A store with a table that one of its users serves over TCP, for ranks on several machines, with IPv4 and IPv6. It
// communicates only with peers that know the secret.
#include <distrun/runtime/store/store.hpp>

namespace distrun::stores {

// Returns $DISTRUN_STORE_SECRET, which a run sets for its ranks; empty if it is not set.
std::string default_store_secret();

struct TcpStoreOptions {
  std::uint16_t port = 0;  // 0: a free port; for the server only
  bool is_server = false;  // true for exactly one user
  int world_size = -1;     // number of users; -1: not counted
  // If true, the server's constructor blocks until all users have connected.
  bool wait_for_workers = true;
  base::Nanoseconds timeout = Store::kTimeout;  // also for connecting: a server may start after its clients
  // Must be random and the same for all users: a connecting process may try guesses.
  std::string secret = default_store_secret();
};

// Its constructor and all requests throw Error{Failed} in an inline function of RPC (core/inline_function.hpp).
class TcpStore final : public Store {
 public:
  // Connects to `host`, or listens there and serves. Throws Error{InvalidArgument} if `host` has no address,
  // Error{Timeout} if no server answers within the timeout, Error{Disconnected} if the listener does not know the
  // secret, speaks another version or is not a store, and Error{Failed} if the server cannot listen.
  explicit TcpStore(const std::string& host, TcpStoreOptions options = {});
  // The server's destructor ends the store for all users. In a forked process the destructor ends nothing, and all
  // other functions throw Error{Failed}.
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
