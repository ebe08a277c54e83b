#pragma once
// Reads the rings of a rank's peers, one thread at a time. A thread that waits for a reply reads them itself (help()),
// so that no other thread has to wake up. Otherwise an idle worker of the handler pool reads them (idle()), and sleeps
// at the rank's door when nothing arrives.
//
//   no owner          door parked: a worker sleeps there, or is about to; a peer that writes rings
//                     door polling: a worker was woken, and is about to become the owner
//   owned by a waiter until its answer is there, or sleeping is cheaper; sleeping workers stay asleep
//   owned by a worker until nothing has arrived for a moment, a waiter wants ownership, or there is a task
//
// Rules by which no message stays unread (door.hpp has the peer's half; tests/unit/pipe/reactor_model_test.cpp explores
// all orders of steps):
//   - To release ownership, set the door to parked, clear the owner, then check the door and every ring once more.
//     Check the rings of the current links: one may have begun since the last visit.
//   - A worker that yields to a waiter leaves the door at polling, clears the owner, then checks wanted_. The waiter
//     decrements wanted_ before it tries to own. One of them sees the other.
//   - A worker sleeps on the door's word as it was before the worker checked the owner and the pending work.
//   - Owed bells are rung before ownership is released.
//
// The I/O thread reads links over sockets; waiting threads read them, too.
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include <agents/pipe/door.hpp>
#include <agents/pipe/link.hpp>
#include <agents/pipe/upcalls.hpp>
#include <distrun/runtime/future/handler_pool.hpp>
#include <distrun/runtime/future/progress.hpp>

namespace distrun::agents::pipe {

// Thread-safe.
class Reactor final : public future::IdlePlace, public future::Progress, public Delivery {
 public:
  // `pool` is the rank's. `receiver` gets what arrives, and must stay until close() has returned.
  Reactor(future::HandlerPool& pool, rpc::Receiver& receiver);
  ~Reactor() override;

  Door& door() noexcept { return door_; }
  // Throws std::bad_alloc, and changes nothing then.
  void set_links(std::vector<std::shared_ptr<Link>> links);
  // Called when a link has begun: from now on it is read.
  void rouse() noexcept;
  // Read a link to its end, and report that end. Called by the I/O thread.
  void read_all(Link& link) noexcept;
  void tell_end(Link& link) noexcept;
  // Waits for receiver calls in progress on any thread; afterwards none begins. Not from within one.
  void close() noexcept;
  // Releases the links. Call it after close().
  void forget_links() noexcept;

  // future::IdlePlace.
  void idle(base::TimePoint until = base::TimePoint::max()) noexcept override;
  void wake() noexcept override;
  // future::Progress.
  void help(const Awaited& awaited, base::TimePoint deadline) noexcept override;
  // Delivery.
  void deliver(const rpc::WorkerInfo& from, rpc::Message message) noexcept override;

 private:
  using Links = std::vector<std::shared_ptr<Link>>;

  bool try_own() noexcept { return owner_.load() == 0 && owner_.exchange(1) == 0; }
  // Called by the owner.
  void set_polling() noexcept {
    if (Door::is_parked(door_.state())) door_.set_polling();
  }
  bool poll(bool with_sockets) noexcept;
  bool poll(Link& link, bool with_sockets) noexcept;
  bool let_go() noexcept;
  void leave_to_waiter() noexcept;
  void drain_and_let_go() noexcept;
  void pay_bells() noexcept;
  bool attend() noexcept;
  bool wait_as_owner(const Awaited& awaited, base::TimePoint deadline) noexcept;
  const Links& links() noexcept;
  static bool any_ready(const Links& links) noexcept;
  std::shared_ptr<const Links> latest() noexcept;
  void take_what_was_left() noexcept;
  bool take_wake() noexcept;

  future::HandlerPool& pool_;
  rpc::Receiver& receiver_;
  Door door_;
  std::atomic<std::uint32_t> owner_{0};
  std::atomic<int> wanted_{0};         // waiters that want ownership
  std::atomic<int> wakes_{0};          // wake() calls not yet answered
  std::atomic<std::size_t> found_{0};  // tasks found so far
  Upcalls upcalls_;                    // into receiver_
  std::atomic<int> hot_polls_;         // polls before the thread yields its core

  std::mutex mutex_;
  std::shared_ptr<const Links> latest_;    // guarded by mutex_
  std::atomic<std::uint64_t> version_{0};  // of latest_
  // Used by the owner only.
  std::shared_ptr<const Links> polled_;
  std::uint64_t polled_version_ = 0;
};

}  // namespace distrun::agents::pipe
