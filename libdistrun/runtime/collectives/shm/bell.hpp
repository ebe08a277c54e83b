#pragma once
// Waits of a group's ranks for changes in the shared memory: they poll for some microseconds, then poll and yield, then
// sleep until their bell is rung. A rank has one bell for all its threads.
//
// A long sleep also ends when the process of an awaited rank ends.
//
// A rank that changes something rings the ranks concerned; that only reads a counter unless one of them sleeps.
#include <functional>
#include <memory>
#include <vector>

#include <distrun/common/board/slot_writer.hpp>
#include <distrun/runtime/collectives/shm/area.hpp>
#include <distrun/runtime/core/wait.hpp>

namespace distrun::collectives::shm {

struct Awaited {
  board::WaitInfo info;  // shown on the board, except for the ranks
  base::TimePoint deadline = core::kForever;
  const std::function<std::vector<int>()>& missing;  // group ranks that are awaited at this moment
};

// Wakes the threads of this process that wait for the seat's bell. Never fails.
void strike(Seat& seat) noexcept;

// Thread-safe.
class Bells {
 public:
  Bells(std::shared_ptr<Area> area, const GroupInfo& group);

  void ring(int rank) const noexcept;
  void ring_all() const noexcept;
  // Requests notification of the end of all other processes from now on, as a long wait does.
  void watch_all() const noexcept;

  // Returns PeerFailed also if a missing rank's process has ended without leaving. `ready` is called often.
  template <class Ready>
  core::WaitEnd wait(const Awaited& awaited, const Ready& ready) const {
    return look(ready) ? core::WaitEnd::Ready : sleep(awaited, std::function<bool()>(std::cref(ready)));
  }

 private:
  template <class Ready>
  bool look(const Ready& ready) const {
    for (int i = 0; i < spins_; ++i) {
      if (ready()) return true;
      __builtin_ia32_pause();
    }
    const base::TimePoint until = base::system_clock().now() + kPatience;
    do {
      if (ready()) return true;
      yield();
    } while (base::system_clock().now() < until);
    return ready();
  }
  static void yield() noexcept;
  core::WaitEnd sleep(const Awaited& awaited, const std::function<bool()>& ready) const;
  core::WaitEnd sleep_until_ready(const Awaited& awaited, const std::function<bool()>& ready) const;
  board::PeerSet peers(const std::vector<int>& places) const;

  class PeerEnds;

  // The work of other ranks takes no longer than this, or is worth a sleep. In time, not in yields: a yield costs 0.3
  // us, or on a busy machine the rest of other threads' time slices.
  static constexpr base::Nanoseconds kPatience = std::chrono::microseconds(150);

  const std::shared_ptr<Area> area_;
  const GroupInfo group_;
  const std::shared_ptr<PeerEnds> ends_;  // shared by all copies
  const int spins_;                       // 0 if there are more ranks than CPUs, as others could run instead
};

}  // namespace distrun::collectives::shm
