#pragma once
// The peers that are connected, and the sockets of theirs that the porter looks at. Any thread.
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
  // It is connected. False: it was already.
  bool admit(WorkerId peer);
  void forget(WorkerId peer) noexcept;
  void clear() noexcept;

  // As Porter's.
  void watch(WorkerId peer, int fd, bool readable);
  void want_writable(WorkerId peer) noexcept;

  struct Seen {
    WorkerId peer = -1;
    bool readable = false;  // it is to be told
    bool writable = false;  // it was wanted, and is so no more
  };
  // Nothing: it is not watched any more.
  std::optional<Seen> see(const Polled& polled) noexcept;
  // Whether it is at its end, after what was readable was told; it is forgotten then. Why it ended.
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
  std::map<WorkerId, Watch> peers_;  // guarded by mutex_; not watched: fd is -1
  std::uint64_t last_ = 0;           // guarded by mutex_; of tokens
};

}  // namespace distrun::agents::pipe
