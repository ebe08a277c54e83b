#pragma once
// The thread of a session's references: sends again what is not acknowledged in time, and writes the page that shows
// them to whoever looks from outside (common/ledger). It is there once a reference is, and sleeps while nothing
// changes and nothing is on its way. A worker that does not answer is asked less and less often, up to every few
// seconds; and a page that takes long to write is written less often, so that it costs a hundredth of a core at most.
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/common/ledger/ledger.hpp>
#include <distrun/runtime/rref/protocol/numbered.hpp>

namespace distrun::rref {

class Caretaker {
 public:
  using Outboxes = std::map<WorkerKey, std::vector<ForkMessage>>;
  // By the thread, without a lock.
  struct Charges {
    std::function<Outboxes(std::size_t most)> waiting;  // to be acknowledged, up to so many of each worker
    std::function<void(WorkerKey, const ForkMessage&)> send;
    std::function<ledger::Page(std::size_t most)> page;  // up to so many rows of each kind
  };
  explicit Caretaker(Charges charges) : charges_(std::move(charges)) {}
  ~Caretaker() { stop(); }
  Caretaker(const Caretaker&) = delete;
  Caretaker& operator=(const Caretaker&) = delete;

  // Something has changed. Throws Error{Overloaded} if there is no thread, and none can be started.
  void notice() {
    if (!is_noticed_.load(std::memory_order_relaxed)) notice_anew();
  }
  // Nothing is sent or written afterwards, and the page is gone. Not by the thread; one at a time.
  void stop() noexcept;

 private:
  // How a worker has answered lately.
  struct Peer {
    std::uint64_t newest = 0;  // of what waited when something was last sent again
    std::size_t old = 0;       // of these, those that waited the last time
    base::Nanoseconds pause{};
    base::TimePoint next;
  };

  void notice_anew();
  void run();
  // False: nothing waits, and the page is written.
  bool look_once(bool has_changed);
  void send_again(WorkerKey to, const std::vector<ForkMessage>& messages);
  bool write_page();

  const Charges charges_;
  // The thread's.
  std::map<WorkerKey, Peer> peers_;
  std::optional<ledger::Writer> writer_;
  bool is_page_old_ = false;
  base::TimePoint next_page_;

  std::atomic<bool> is_noticed_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  bool is_stopped_ = false;
  std::optional<base::Thread> thread_;
};

}  // namespace distrun::rref
