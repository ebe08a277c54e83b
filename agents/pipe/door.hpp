#pragma once
// A rank's door: a word in shared memory by which peers wake it. It says whether the rank looks into its rings, or
// sleeps and must be rung for; so a peer that writes to one that looks pays for no system call.
//
//   bits 0-1   Polling: somebody looks, or has just been woken for it   Parked: a thread sleeps in the kernel
//   bits 2..   a number that changes whenever the state does, so that nobody falls asleep on a state that is over
//
// Ordering (all of it seq_cst): a writer publishes what it has written, then looks at the door. A rank that goes to
// sleep changes the door, then looks into every ring once more. One of the two sees the other.
#include <atomic>
#include <cstdint>

#include <distrun/common/base/clock.hpp>
#include <distrun/runtime/core/shared_memory.hpp>

namespace distrun::agents::pipe {

// Of the clock that all processes of a machine have.
inline std::int64_t monotonic_ns() noexcept {
  return std::chrono::duration_cast<base::Nanoseconds>(base::system_clock().now().time_since_epoch()).count();
}

// What is shared. Whoever maps it may write nonsense: then the rank is woken for nothing, or sleeps until somebody else
// rings.
struct DoorPage {
  std::atomic<std::uint32_t> word{0};
  alignas(64) std::atomic<std::int64_t> parked_at_ns{0};  // of the monotonic clock: when it fell asleep
};

// A peer's, mapped; or one's own. Unmapped with its owner.
class Door {
 public:
  Door();                                // one's own. Throws Error{Failed}
  explicit Door(const base::Fd& memfd);  // a peer's. Throws Error{Failed, InvalidArgument}
  ~Door();
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  int fd() const noexcept { return memfd_.get(); }  // of one's own
  base::Fd duplicate_fd() const;                    // throws Error{Failed}
  // Wakes the rank if it sleeps. Any process, after the write was published.
  void ring() const noexcept;
  bool is_parked() const noexcept { return (page_->word.load() & kState) == kParked; }
  std::int64_t parked_at_ns() const noexcept { return page_->parked_at_ns.load(std::memory_order_relaxed); }

  // By the rank itself.
  std::uint32_t state() const noexcept { return page_->word.load(); }
  static bool is_parked(std::uint32_t state) noexcept { return (state & kState) == kParked; }
  void set_polling() noexcept { change(kPolling); }
  void set_parked(std::int64_t now_ns) noexcept {
    page_->parked_at_ns.store(now_ns, std::memory_order_relaxed);
    change(kParked);
  }
  // Sleeps until somebody rings or calls wake(), unless the state is another one by now.
  void sleep(std::uint32_t state) const noexcept;
  // One thread that sleeps goes on, whatever the state; or none falls asleep on the state that was.
  void wake() noexcept;

 private:
  static constexpr std::uint32_t kState = 3, kPolling = 0, kParked = 1, kStep = 4;

  void change(std::uint32_t state) noexcept {
    std::uint32_t before = page_->word.load();
    while (!page_->word.compare_exchange_weak(before, ((before & ~kState) + kStep) | state)) {
    }
  }
  void map();

  base::Fd memfd_;
  DoorPage* page_ = nullptr;
};

}  // namespace distrun::agents::pipe
