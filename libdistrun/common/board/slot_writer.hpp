#pragma once
// A rank's side of its slot: what the rank shows. Any thread of the rank; no call blocks, allocates or makes a system
// call (but clock_gettime, which is none). A record costs tens of nanoseconds.
#include <string_view>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/location.hpp>
#include <distrun/common/board/layout.hpp>
#include <distrun/common/wire/control.hpp>

namespace distrun::board {

struct WaitInfo {
  WaitKind kind = WaitKind::Custom;
  std::string_view name;  // longer ones are cut
  PeerRule rule = PeerRule::None;
  PeerSet peers;
  std::uint64_t id = 0;
  base::Location site;
};

// The monotonic clock, some milliseconds behind, at a quarter of its price.
base::TimePoint coarse_now() noexcept;

class SlotWriter {
 public:
  // Without a slot it shows nothing, and everything else works.
  explicit SlotWriter(Slot* slot = nullptr) noexcept : slot_(slot) {}

  // Once, by the thread that is going to run the body.
  void attach() noexcept;
  void enter_phase(wire::Phase phase) noexcept;
  // A thread of the rank has called exit(); the first that does is shown. Async-signal-safe.
  void leave(int code) noexcept;
  // By a process that the rank has forked: it came back from the test's body as if it were the rank; a check failed.
  void note_stray_child(std::int32_t pid) const noexcept;
  void note_failed_child(std::int32_t pid) const noexcept;
  // The rank got on: a message came, a task was done.
  void progress() noexcept;
  // Into the ring of last operations.
  void note(WaitKind kind, std::string_view name, int peer = -1, std::uint64_t id = 0) noexcept;

  // Shows a wait of the calling thread; the number of its cell, or -1 if all are taken.
  int begin_wait(const WaitInfo& info, base::TimePoint since, base::TimePoint deadline) noexcept;
  void end_wait(int cell) noexcept;

  // Shows an error that nobody has looked at, until hide_error(); the number of its cell, or -1 if all are taken.
  int show_error(std::string_view text) noexcept;
  void hide_error(int cell) noexcept;

  Slot* slot() const noexcept { return slot_; }

 private:
  static std::size_t fill(WaitRecord& record, const WaitInfo& info) noexcept;

  Slot* slot_;
};

}  // namespace distrun::board
