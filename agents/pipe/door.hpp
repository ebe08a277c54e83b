#pragma once
// A rank's door: a word in shared memory by which peers wake the rank. It tells whether the rank polls its rings, or
// sleeps and must be woken; so a peer that writes to a polling rank needs no system call.
//
//   bits 0-1   Polling: a thread polls, or was just woken to poll       Parked: a thread sleeps in the kernel
//   bits 2..   a counter that changes with the state, so that no thread falls asleep on an outdated state
//
// Ordering (all seq_cst): a writer publishes its bytes, then reads the door. A rank about to sleep changes the door,
// then checks every ring once more. One of the two sees the other.
#include <atomic>
#include <cstdint>

#include <distrun/common/base/clock.hpp>
#include <distrun/runtime/core/shared_memory.hpp>

namespace distrun::agents::pipe {

// Reads the monotonic clock, which all processes of a machine share.
inline std::int64_t monotonic_ns() noexcept {
  return std::chrono::duration_cast<base::Nanoseconds>(base::system_clock().now().time_since_epoch()).count();
}

// The shared page. If a peer writes garbage, the rank wakes up for nothing, or sleeps until another peer rings.
struct DoorPage {
  std::atomic<std::uint32_t> word{0};
  alignas(64) std::atomic<std::int64_t> parked_at_ns{0};  // monotonic time at which the rank fell asleep
};

// A peer's door, or this rank's. Unmapped by the destructor.
class Door {
 public:
  Door();                                // this rank's. Throws Error{Failed}
  explicit Door(const base::Fd& memfd);  // a peer's, which is not kept. Throws Error{Failed, InvalidArgument}
  ~Door();
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  int fd() const noexcept { return memfd_.get(); }  // of this rank's door
  base::Fd duplicate_fd() const;                    // throws Error{Failed}
  // Wakes the rank if it sleeps. Called by any process, after it has published its write.
  void ring() const noexcept;
  bool is_parked() const noexcept { return (page_->word.load() & kState) == kParked; }
  std::int64_t parked_at_ns() const noexcept { return page_->parked_at_ns.load(std::memory_order_relaxed); }

  // Called by the rank itself.
  std::uint32_t state() const noexcept { return page_->word.load(); }
  static bool is_parked(std::uint32_t state) noexcept { return (state & kState) == kParked; }
  void set_polling() noexcept { change(kPolling); }
  void set_parked(std::int64_t now_ns) noexcept {
    page_->parked_at_ns.store(now_ns, std::memory_order_relaxed);
    change(kParked);
  }
  // Sleeps until a peer rings, wake() is called, or that time; returns at once if the state has changed since.
  void sleep(std::uint32_t state, base::TimePoint until = base::TimePoint::max()) const noexcept;
  // Wakes one sleeping thread in any state; or keeps a thread from falling asleep on the previous state.
  void wake() noexcept;

 private:
  static constexpr std::uint32_t kState = 3, kPolling = 0, kParked = 1, kStep = 4;

  void change(std::uint32_t state) noexcept {
    std::uint32_t before = page_->word.load();
    while (!page_->word.compare_exchange_weak(before, ((before & ~kState) + kStep) | state)) {
    }
  }
  void map(int memfd);

  base::Fd memfd_;  // empty for a peer's
  DoorPage* page_ = nullptr;
};

}  // namespace distrun::agents::pipe
