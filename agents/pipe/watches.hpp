#pragma once
// The connected peers, and their sockets that the I/O thread watches. Thread-safe.
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include <agents/pipe/handshake.hpp>
#include <agents/pipe/poller.hpp>

namespace distrun::agents::pipe {

class Watches {
 public:
  explicit Watches(Poller& poller) : poller_(poller) {}

  bool has(WorkerId peer) const;
  // Adds a connected peer. Returns false if it is connected already.
  bool admit(WorkerId peer);
  void forget(WorkerId peer) noexcept;
  void clear() noexcept;

  // As IoThread's. Adds the peer again if it was forgotten since admit().
  void watch(WorkerId peer, int fd, bool readable);
  void want_writable(WorkerId peer) noexcept;

  struct Seen {
    WorkerId peer = -1;
    bool readable = false;  // to be reported
    bool writable = false;  // was wanted; no longer wanted now
  };
  // Returns nullopt if the socket is not watched any more.
  std::optional<Seen> see(const Polled& polled) noexcept;
  // Returns why the peer's socket ended, and forgets the peer; nullopt if it has not. Report readable events first.
  std::optional<std::string> take_end(const Polled& polled);

 private:
  struct Watch {
    int fd = -1;
    Token token;
    bool readable = false;
    bool wants_writable = false;
  };

  std::map<WorkerId, Watch>::iterator find(Token token) noexcept;
  static std::uint32_t events_of(const Watch& watch) noexcept;

  Poller& poller_;
  mutable std::mutex mutex_;
  std::map<WorkerId, Watch> peers_;  // guarded by mutex_; fd -1: not watched
  std::uint64_t last_ = 0;           // guarded by mutex_; of tokens
};

}  // namespace distrun::agents::pipe
