#pragma once
// The agent's I/O thread: accepts peers, connects to them (meetings.hpp), and reports when a socket is readable,
// writable or at its end. Sleeps until something happens; nothing is periodic.
//
//   created -> started -> closed
//
// Thread-safe.
#include <atomic>
#include <cstdint>
#include <list>
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

class IoThread {
 public:
  // The listener's address replaces `own.address`. `events` must stay until close() has returned. `limit` bounds each
  // handshake, incoming or outgoing.
  IoThread(Identity own, Listener listener, IoThreadEvents& events, base::Nanoseconds limit = std::chrono::seconds(30));
  ~IoThread();
  IoThread(const IoThread&) = delete;
  IoThread& operator=(const IoThread&) = delete;

  const std::string& address() const noexcept { return address_; }
  // Starts the thread; call it once. Throws Error{Overloaded} if no thread can start.
  void start();
  // Afterwards no event is reported, and all own descriptors are closed. Not from within an event. Idempotent.
  void close() noexcept;

  // A request to the I/O thread.
  struct Request {
    rpc::WorkerKey peer;
    std::string name;
    Address address;  // empty: forget the peer
  };
  using Requests = std::list<Request>;
  // Returns the request to connect to a peer. Throws Error{InvalidArgument} for an address that can't be read.
  static Requests request(rpc::WorkerKey peer, std::string name, const std::string& address);
  // Ends in connected() or failed(), unless forget() is called before. Does nothing if there is a connection or an
  // attempt already, except that it replaces an attempt to reach another incarnation of the peer.
  void connect(Requests request) noexcept;
  void connect(rpc::WorkerKey peer, std::string name, const std::string& address) {
    connect(request(peer, std::move(name), address));
  }
  // Watches the socket of a connected peer. Call it within connected(), also if forget() was called meanwhile: that was
  // for an earlier connection. The caller owns `fd` and keeps it open until forget() or ended(). If not `readable`,
  // bytes violate the protocol and end the connection.
  void watch(WorkerId peer, int fd, bool readable);
  // Does nothing if the peer is not watched.
  void want_writable(WorkerId peer) noexcept;
  // Ends attempts to connect to the peer, too, if there is memory to ask for that. An event of the peer may still be
  // running on the I/O thread.
  void forget(WorkerId peer) noexcept;
  // Like forget(), from within an event. Takes effect at once, so that it does not end a connect() requested meanwhile.
  void forget_here(WorkerId peer) noexcept;

  // Calls on_timer() at `at`, or earlier if an earlier time is set.
  void set_timer(base::TimePoint at) noexcept;

 private:
  void post(Requests request) noexcept;
  void run();
  void handle(const Polled& polled);
  void handle_watched(const Polled& polled);
  void handle_requests() noexcept;
  void handle_timer();
  void arm(base::TimePoint at) noexcept;

  IoThreadEvents& events_;
  std::string address_;
  Poller poller_;
  Watches watches_;
  Meetings meetings_;      // I/O thread only
  bool has_read_ = false;  // I/O thread only

  std::mutex mutex_;
  Requests requests_;                               // guarded by mutex_, as are the next two
  base::TimePoint timer_ = base::TimePoint::max();  // when on_timer() is due
  base::TimePoint armed_ = base::TimePoint::max();  // when the timerfd expires
  std::atomic<bool> is_closing_{false};
  base::Fd wake_;
  base::Fd timerfd_;

  std::mutex closing_;
  std::optional<base::Thread> thread_;  // guarded by closing_
};

}  // namespace distrun::agents::pipe
