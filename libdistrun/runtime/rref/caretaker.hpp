#pragma once
// The background thread of a session's references. It resends messages that were not acknowledged in time, and writes
// the page that other processes read (common/ledger). It starts with the first reference, and sleeps while nothing
// changes and nothing is in flight. It asks a worker that does not answer less and less often, down to once every few
// seconds. A page that takes long to write is written less often, so that pages cost at most 1% of a core.
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/ledger/ledger.hpp>
#include <distrun/runtime/core/deadline_thread.hpp>
#include <distrun/runtime/rref/protocol/numbered.hpp>

namespace distrun::rref {

class Caretaker {
 public:
  using Outboxes = std::map<WorkerKey, std::vector<ForkMessage>>;
  // Called on the thread, without a lock.
  struct Charges {
    std::function<Outboxes(std::size_t most)> waiting;  // unacknowledged messages, at most that many for each worker
    std::function<void(WorkerKey, const ForkMessage&)> send;
    std::function<ledger::Page(std::size_t most)> page;  // at most that many rows of each kind
  };
  explicit Caretaker(Charges charges)
      : charges_(std::move(charges)), thread_("distrun-rref", [this] { return look(); }) {}
  ~Caretaker() { stop(); }
  Caretaker(const Caretaker&) = delete;
  Caretaker& operator=(const Caretaker&) = delete;

  // Called when something has changed. Throws as core::DeadlineThread::call_by().
  void notice() {
    if (!is_noticed_.load(std::memory_order_relaxed)) notice_anew();
  }
  // Afterwards nothing is sent or written, and the page is gone. Not called on the thread; one call at a time.
  void stop() noexcept;

 private:
  // How a worker has answered recently.
  struct Peer {
    std::uint64_t newest = 0;  // number of the last message that waited at the last resend
    std::size_t old = 0;       // number of messages up to `newest` that still waited at the last look
    base::Nanoseconds pause{};
    base::TimePoint next;
  };

  void notice_anew();
  // Returns the time of the next look.
  base::TimePoint look() noexcept;
  // Returns false if no message waits and the page is written.
  bool look_once(bool has_changed);
  void send_again(WorkerKey to, const std::vector<ForkMessage>& messages);
  bool write_page();

  const Charges charges_;
  // Used only on the thread.
  std::map<WorkerKey, Peer> peers_;
  std::optional<ledger::Writer> writer_;
  bool is_page_old_ = false;
  base::TimePoint next_page_;

  std::mutex mutex_;
  std::atomic<bool> is_noticed_{false};  // since the last look; changed with mutex_ held
  core::DeadlineThread thread_;          // the last member: destroyed first
};

}  // namespace distrun::rref
