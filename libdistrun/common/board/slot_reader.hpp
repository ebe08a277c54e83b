#pragma once
// What can be seen of a rank's slot, from outside or by its peers. Never blocks and never shows half a record; what
// makes no sense is left out.
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

// One look at a slot.
struct Shown {
  int pid = 0;
  int body_tid = 0;
  wire::Phase phase = wire::Phase::Spawn;
  int stray_child = 0;  // a process that it has forked, which did what only a rank may; 0: none
  std::int64_t phase_since_ns = 0;
  std::uint64_t epoch = 0;
  std::uint32_t waits_not_shown = 0;
  bool child_returned = false;             // that child came back from the body; else a check failed in it
  std::optional<int> leaving_with;         // the code with which it has called exit(); of ranks that are threads
  std::vector<ShownWait> waits;            // the longest first
  std::vector<ShownOperation> operations;  // the oldest first
  std::vector<std::string> errors;         // that nobody has looked at, the oldest first; each may be cut
};

// Nothing if no rank has attached to the slot. Of `world_size` ranks; peers beyond are left out.
std::optional<Shown> read(const Slot& slot, int world_size);

}  // namespace distrun::board
