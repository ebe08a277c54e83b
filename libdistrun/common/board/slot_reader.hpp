#pragma once
// Reads a rank's slot from outside, or as a peer. Never blocks and never returns half a record; skips invalid ones.
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/board/layout.hpp>
#include <distrun/common/wire/control.hpp>

namespace distrun::board {

struct ShownWait {
  WaitKind kind = WaitKind::Custom;
  std::string name;
  std::uint64_t id = 0;
  PeerRule rule = PeerRule::None;
  std::vector<int> peers;  // in order
  int tid = 0;
  bool in_body = false;          // of the thread that runs the test's body
  std::int64_t since_ns = 0;     // of the monotonic clock
  std::int64_t deadline_ns = 0;  // 0: none
  std::string file;              // call site; may be the end of a path
  std::uint32_t line = 0;
};

struct ShownOperation {
  std::uint64_t number = 0;
  WaitKind kind = WaitKind::Custom;
  std::string name;
  std::uint64_t id = 0;
  int peer = -1;
  std::int64_t at_ns = 0;
};

// A snapshot of a slot.
struct Shown {
  int pid = 0;
  int body_tid = 0;
  wire::Phase phase = wire::Phase::Spawn;
  int stray_child = 0;  // a forked process that acted as the rank; 0: none
  std::int64_t phase_since_ns = 0;
  std::uint64_t epoch = 0;
  std::uint32_t waits_not_shown = 0;
  bool child_returned = false;             // that process returned from the body; else a check failed in it
  std::optional<int> leaving_with;         // the code passed to exit(), if ranks are threads
  std::vector<ShownWait> waits;            // the longest first
  std::vector<ShownOperation> operations;  // the oldest first
  std::vector<std::string> errors;         // unread errors, the oldest first; each may be cut
};

// Returns nullopt if no rank has attached to the slot. Omits peers beyond `world_size`.
std::optional<Shown> read(const Slot& slot, int world_size);

}  // namespace distrun::board
