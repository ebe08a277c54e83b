#pragma once
// The one thread that an agent has for its sockets: it lets peers in, connects to them (meetings.hpp), and tells when a
// socket has bytes, room, or is at its end. It sleeps until something happens; nothing in it is periodic.
//
//   made -> started -> closed
//
// Any thread.
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/thread.hpp>

#include <agents/pipe/connection.hpp>
#include <agents/pipe/meetings.hpp>
#include <agents/pipe/poller.hpp>
#include <agents/pipe/watches.hpp>

namespace distrun::agents::pipe {

class Porter {
 public:
  // `own.address` is filled with the listener's. `events` must stay until close() has returned. No handshake, of either
  // role, takes longer than `limit`.
  Porter(Identity own, Listener listener, PorterEvents& events, base::Nanoseconds limit = std::chrono::seconds(30));
  ~Porter();
  Porter(const Porter&) = delete;
  Porter& operator=(const Porter&) = delete;

  const std::string& address() const noexcept { return address_; }
  // Once. Throws Error{Overloaded} if there is no thread for it.
  void start();
  // No event is told afterwards, and no descriptor is left but those of others. Not from within an event. Idempotent.
  void close() noexcept;

  // Comes to connected() or failed(), unless it was forgotten. Nothing happens if there is a connection, or one on its
  // way, already. Throws Error{InvalidArgument} for an address that can't be read.
  void connect(rpc::WorkerKey peer, std::string name, const std::string& address);
  // Of a peer that is connected: `fd` stays its owner's, and open until forget() or ended(). Not `readable`: bytes are
  // against the protocol, and end it as its end does.
  void watch(WorkerId peer, int fd, bool readable);
  // Nothing happens for one that is not watched.
  void want_writable(WorkerId peer) noexcept;
  // Ends attempts to connect to it, too. An event of it that has begun on the porter's thread may still be running.
  void forget(WorkerId peer) noexcept;
  // The same from within an event: at once, so that a connect() that somebody asks for meanwhile is not ended by it.
  void forget_here(WorkerId peer) noexcept;

  // on_timer() comes then, or earlier, if that is set already.
  void set_timer(base::TimePoint at) noexcept;

 private:
  struct Request {
    rpc::WorkerKey peer;
    std::string name;
    Address address;  // empty: it is forgotten
  };

  void post(Request request) noexcept;
  void run();
  void handle(const Polled& polled);
  void handle_watched(const Polled& polled);
  void handle_requests();
  void handle_timer();
  void arm(base::TimePoint at) noexcept;

  PorterEvents& events_;
  std::string address_;
  Poller poller_;
  Watches watches_;
  Meetings meetings_;      // the porter's thread
  bool has_read_ = false;  // the porter's thread

  std::mutex mutex_;
  std::vector<Request> requests_;                   // guarded by mutex_, and so are the next
  base::TimePoint timer_ = base::TimePoint::max();  // on_timer()'s
  base::TimePoint armed_ = base::TimePoint::max();  // the timerfd's
  std::atomic<bool> is_closing_{false};
  base::Fd wake_;
  base::Fd timerfd_;

  std::mutex closing_;
  std::optional<base::Thread> thread_;  // guarded by closing_
};

}  // namespace distrun::agents::pipe
