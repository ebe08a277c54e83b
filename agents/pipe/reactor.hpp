#pragma once
// Who reads the rings of a rank's peers: one thread at a time, whichever has nothing better to do. A thread that waits
// for a reply does it itself (help), so no other has to wake up; else a worker of the handler pool that has no task
// (idle), which sleeps at the rank's door when nothing comes.
//
//   owned by nobody   the door says parked: a worker sleeps there, or is on its way to it. Whoever writes rings
//                     the door says polling: somebody has been woken, and is about to own it
//   owned by a waiter until what he waits for is there, or it would be better to sleep. Sleepers stay where they are
//   owned by a worker until nothing has come for a moment, or a waiter wants it, or there is a task
//
// Rules by which no message is left lying (door.hpp has the other half; tests/unit/pipe/reactor_model_test.cpp walks
// through all orders of steps):
//   - To let go, the door is set to parked, then the owner is cleared, then the door and every ring are looked at once
//     more: the rings of the links that there are by then, as one may have begun since the last visit.
//   - A worker that makes room for a waiter leaves the door at polling, clears the owner, then looks at who wants it:
//     the waiter says that he does not any more before he tries to own. One of them sees the other.
//   - A worker sleeps on the door's word as it was before he looked at the owner and at what is to be done.
//   - Bells that are owed are rung before anybody lets go.
//
// Links in sockets are the porter's to read; who waits reads along.
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

// Any thread.
class Reactor final : public future::IdlePlace, public future::Progress, public Delivery {
 public:
  // `pool` is that of the rank; `receiver` gets what arrives, and must stay until close() has returned.
  Reactor(future::HandlerPool& pool, rpc::Receiver& receiver);
  ~Reactor() override;

  Door& door() noexcept { return door_; }
  void set_links(std::vector<std::shared_ptr<Link>> links);
  // Its peers have met: from now on it is read.
  void rouse() noexcept;
  // Reads and tells what the end of a link is; for the porter.
  void read_all(Link& link) noexcept;
  void tell_end(Link& link) noexcept;
  // Waits for calls of the receiver that have begun, on whatever thread: none is made after it has returned. Not from
  // within one.
  void close() noexcept;
  // After that: nothing of them is kept.
  void forget_links() noexcept;

  // IdlePlace.
  void idle() noexcept override;
  void wake() noexcept override;
  // Progress.
  void help(const Awaited& awaited, base::TimePoint deadline) noexcept override;
  // Delivery.
  void deliver(const rpc::WorkerInfo& from, rpc::Message message) noexcept override;

 private:
  using Links = std::vector<std::shared_ptr<Link>>;

  bool try_own() noexcept { return owner_.load() == 0 && owner_.exchange(1) == 0; }
  // By the owner.
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
  std::atomic<int> wanted_{0};         // by waiters
  std::atomic<int> wakes_{0};          // that nobody has answered
  std::atomic<std::size_t> found_{0};  // tasks, since ever
  Upcalls upcalls_;                    // of receiver_
  std::atomic<int> hot_polls_;         // before others are let run

  std::mutex mutex_;
  std::shared_ptr<const Links> latest_;    // guarded by mutex_
  std::atomic<std::uint64_t> version_{0};  // of latest_
  // The owner's.
  std::shared_ptr<const Links> polled_;
  std::uint64_t polled_version_ = 0;
};

}  // namespace distrun::agents::pipe
