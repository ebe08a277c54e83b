#pragma once
// How ranks of a group wait for what another one writes into the shared memory: they look for some microseconds, then
// they let others run and look, then they sleep until somebody rings. A rank has one bell, for all of its threads.
//
// Who sleeps for longer is rung as well when the process of a rank that it waits for ends.
//
// Who changes something rings those who may want to know; it costs a look at a number, unless one of them sleeps.
#include <functional>
#include <memory>
#include <vector>

#include <distrun/common/board/slot_writer.hpp>
#include <distrun/runtime/collectives/shm/area.hpp>
#include <distrun/runtime/core/wait.hpp>

namespace distrun::collectives::shm {

struct Awaited {
  board::WaitInfo info;  // as it is shown, but for the ranks
  base::TimePoint deadline = core::kForever;
  const std::function<std::vector<int>()>& missing;  // places of those that it is waited for at this moment
};

// Any thread.
class Bells {
 public:
  Bells(std::shared_ptr<Area> area, const GroupInfo& group);

  void ring(int rank) const noexcept;
  void ring_all() const noexcept;
  // Has the ends of all others' processes told from now on, as a wait that lasts does.
  void watch_all() const noexcept;

  // PeerFailed: also if a rank that is missing has ended without a word. `ready` is called often.
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

  // What others do for it takes no longer, or is worth a sleep. Counted in time: to yield costs 0.3 us, or on a busy
  // machine what is left of others' turns.
  static constexpr base::Nanoseconds kPatience = std::chrono::microseconds(150);

  const std::shared_ptr<Area> area_;
  const GroupInfo group_;
  const std::shared_ptr<PeerEnds> ends_;  // one for all copies
  const int spins_;                       // none where there are more ranks than CPUs: another one could run
};

}  // namespace distrun::collectives::shm
