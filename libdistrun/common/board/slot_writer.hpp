#pragma once
// A rank's side of its slot: shows what the rank does. Any thread of the rank; calls do not block, allocate or make
// system calls (clock_gettime does not count). A record costs tens of nanoseconds.
#include <string_view>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/location.hpp>
#include <distrun/common/board/layout.hpp>
#include <distrun/common/wire/control.hpp>

namespace distrun::board {

struct WaitInfo {
  WaitKind kind = WaitKind::Custom;
  std::string_view name;  // cut if too long
  PeerRule rule = PeerRule::None;
  PeerSet peers;
  std::uint64_t id = 0;
  base::Location site;
};

// Returns the coarse monotonic clock: some milliseconds behind, at a quarter of the cost.
base::TimePoint coarse_now() noexcept;

class SlotWriter {
 public:
  // Without a slot, calls show nothing, and everything else works.
  explicit SlotWriter(Slot* slot = nullptr) noexcept : slot_(slot) {}

  // Called once, by the thread that will run the body.
  void attach() noexcept;
  void enter_phase(wire::Phase phase) noexcept;
  // Shows that a thread of the rank has called exit(); the first call counts. Async-signal-safe.
  void leave(int code) noexcept;
  // Called in a process that the rank has forked: it returned from the test's body like the rank; a check failed.
  void note_stray_child(std::int32_t pid) const noexcept;
  void note_failed_child(std::int32_t pid) const noexcept;
  // Counts progress of the rank: a message arrived, a task was done.
  void progress() noexcept;
  // Adds to the ring of recent operations.
  void note(WaitKind kind, std::string_view name, int peer = -1, std::uint64_t id = 0) noexcept;

  // Shows a wait of the calling thread. Returns the number of its cell, or -1 if all are taken.
  int begin_wait(const WaitInfo& info, base::TimePoint since, base::TimePoint deadline) noexcept;
  void end_wait(int cell) noexcept;

  // Shows an unread error until hide_error(). Returns the number of its cell, or -1 if all are taken.
  int show_error(std::string_view text) noexcept;
  void hide_error(int cell) noexcept;

  Slot* slot() const noexcept { return slot_; }

 private:
  static std::size_t fill(WaitRecord& record, const WaitInfo& info) noexcept;

  Slot* slot_;
};

}  // namespace distrun::board
