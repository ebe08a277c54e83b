#pragma once
// The layout of the board: a sealed memfd with one slot per rank. A rank maps its own slot for writing and the others
// for reading; the coordinator maps all for reading. All sizes are fixed, and all contents are untrusted: a rank that
// scribbles over its slot shows nonsense, within the bounds of its slot.
//
//   slot: header | wait cells | ring of operations | error cells | area for the stacks of a crash
#include <array>
#include <atomic>
#include <cstdint>

#include <distrun/common/board/dump_area.hpp>
#include <distrun/common/board/peer_set.hpp>
#include <distrun/common/board/seq_cell.hpp>

namespace distrun::board {

inline constexpr std::uint64_t kMagic = 0x36'64'72'61'6f'62'72'64;  // "drboard6"
inline constexpr int kWaits = 64;       // at a time, over all threads of a rank; further ones are not shown
inline constexpr int kOperations = 64;  // the most recent ones are kept
inline constexpr std::size_t kNameSize = 64;
inline constexpr std::size_t kFileSize = 80;
inline constexpr int kErrors = 16;  // at a time; further ones are not shown
inline constexpr std::size_t kErrorSize = 240;

enum class WaitKind : std::uint8_t {
  Barrier,
  Receive,
  Send,
  RpcReply,
  Future,
  RrefConfirmation,
  Collective,
  StoreGet,
  PoolSlot,
  Backward,
  Stream,
  Event,
  Custom,   // defined by a test
  Handler,  // no wait: a thread runs a call with this id for another rank, the record's peer
};
inline constexpr int kWaitKindCount = 14;
const char* name_of(WaitKind kind) noexcept;  // "barrier"
// Converts a number of another process, which may know more kinds.
constexpr WaitKind wait_kind(std::int32_t number) noexcept {
  return number >= 0 && number < kWaitKindCount ? static_cast<WaitKind>(number) : WaitKind::Custom;
}

// How many of the peers a wait needs.
enum class PeerRule : std::uint8_t { None, All, Any };  // All: all of them must arrive; Any: one of them is enough
constexpr PeerRule peer_rule(std::int32_t number) noexcept {
  return number > 0 && number <= static_cast<int>(PeerRule::Any) ? static_cast<PeerRule>(number) : PeerRule::None;
}

// One wait of one thread. Times are of the monotonic clock. Peers and texts come last, packed, so that a short record
// is fast to write: the bytes after them are left over from earlier records.
struct WaitRecord {
  std::uint64_t id = 0;  // of a message or a call, depending on the kind
  std::int64_t since_ns = 0;
  std::int64_t deadline_ns = 0;  // 0: none
  std::int32_t tid = 0;
  std::uint32_t line = 0;  // call site
  WaitKind kind = WaitKind::Custom;
  PeerRule rule = PeerRule::None;
  std::uint8_t name_size = 0;
  std::uint8_t file_size = 0;
  std::uint8_t peer_words = 0;
  std::uint8_t unused[3] = {};
  // `peer_words` words of the set of peers, the name, then the call site (the end of its path).
  char rest[sizeof(PeerSet) + kNameSize + kFileSize];
};

// An operation that the rank has done or begun; if it blocks, there is a wait as well.
struct Operation {
  std::uint64_t number = 0;  // counts from 1
  std::int64_t at_ns = 0;
  std::uint64_t id = 0;
  std::int32_t peer = -1;
  WaitKind kind = WaitKind::Custom;
  std::uint8_t unused[3] = {};
  char name[kNameSize] = {};
};

// An error that the test's code has not read yet: often the reason why something else never arrives.
struct ErrorRecord {
  std::int64_t at_ns = 0;
  std::uint64_t size = 0;
  char text[kErrorSize];  // bytes after `size` are left over from earlier records
};

struct Slot {
  // Constant once the rank has attached.
  std::atomic<std::uint64_t> magic{0};
  std::atomic<std::int32_t> pid{0};
  std::atomic<std::int32_t> body_tid{0};  // the thread that runs the test's body
  // Current state.
  std::atomic<std::uint32_t> phase{0};
  std::atomic<std::uint32_t> waits_not_shown{0};
  std::atomic<std::uint32_t> leaving{0};  // not 0: 1 + the code with which a thread called exit()
  // Processes that the rank has forked; 0: none.
  std::atomic<std::int32_t> stray_child{0};   // it returned from the test's body
  std::atomic<std::int32_t> failed_child{0};  // a check failed in it
  std::atomic<std::int64_t> phase_since_ns{0};
  // Grows with the rank's progress, as do the numbers of cells and operations.
  std::atomic<std::uint64_t> progress{0};
  alignas(64) std::atomic<std::uint64_t> operation_count{0};
  alignas(64) std::array<SeqCell<WaitRecord>, kWaits> waits;
  alignas(64) std::array<SeqCell<Operation>, kOperations> operations;
  alignas(64) std::array<SeqCell<ErrorRecord>, kErrors> errors;
  alignas(64) DumpArea crash;
};

inline constexpr std::size_t kPage = 4096;
inline constexpr std::size_t kSlotSize = (sizeof(Slot) + kPage - 1) / kPage * kPage;

}  // namespace distrun::board
