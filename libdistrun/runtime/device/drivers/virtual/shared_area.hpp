#pragma once
// What the virtual devices of a process show to other processes of the machine, in shared memory: its events and, where
// stream order is checked, what it does with memory that others have too.
//
// Fixed sizes, all zero at first; what is read is somebody else's data.
#include <array>
#include <atomic>
#include <cstdint>

#include <distrun/common/board/seq_cell.hpp>
#include <distrun/runtime/core/shared_memory.hpp>

namespace distrun::device::virtual_gpu {

inline constexpr std::size_t kSharedEvents = 256;
inline constexpr std::size_t kPeers = 64;
inline constexpr std::size_t kSharedStreams = 1024;
inline constexpr std::size_t kSharedAccesses = 512;  // the last so many
inline constexpr std::size_t kClockEntries = 256;    // more streams than a session keeps at work
inline constexpr std::size_t kSharedSteps = 6;

// A vector clock, of streams that nobody's host is known to have waited for.
struct SharedClock {
  struct Entry {
    std::uint64_t process;  // its token
    std::uint64_t stream;   // by its number there
    std::uint64_t count;
  };
  std::uint64_t size;
  std::array<Entry, kClockEntries> entries;
};

struct SharedEvent {
  std::atomic<std::uint64_t> recorded;  // how often
  std::atomic<std::uint64_t> done;      // up to which
  std::atomic<std::int32_t> recorder;   // the process that has recorded it last
  board::SeqCell<SharedClock> clock;
};

// An access to shared memory. Addresses count from the begin of its device's memory.
struct SharedAccess {
  struct Step {
    std::int64_t stride, count;
  };
  std::uint64_t owner;  // of the memory: a token
  std::int64_t device;
  std::int64_t begin, end, run;
  std::uint64_t step_count;
  std::array<Step, kSharedSteps> steps;
  std::uint64_t stream;
  std::uint64_t count;
  std::uint64_t writes;
  std::uint64_t line;
  char stream_name[40];
  char name[144];
  char file[96];
};

struct Peer {
  std::uint64_t token;
  core::SharedAddress area;
};

struct SharedArea {
  std::atomic<std::uint64_t> token;  // drawn at random; the process's name here
  std::atomic<std::int32_t> pid;
  std::array<SharedEvent, kSharedEvents> events;
  std::array<board::SeqCell<Peer>, kPeers> peers;  // who uses memory of this process
  // How much of each stream's work some host has waited for: no access up to there is in conflict with what comes
  // later.
  std::array<std::atomic<std::uint64_t>, kSharedStreams> host_known;
  std::atomic<std::uint64_t> access_count;
  std::array<board::SeqCell<SharedAccess>, kSharedAccesses> accesses;
};

// A mapped area. Immovable.
class MappedArea {
 public:
  // One of this process. Throws Error{Failed}.
  MappedArea();
  // Another's. Throws Error{Disconnected} if that process is gone.
  explicit MappedArea(const Peer& other) : memory_(other.area, sizeof(SharedArea)) {}

  SharedArea& operator*() const noexcept { return *static_cast<SharedArea*>(memory_.data()); }
  SharedArea* operator->() const noexcept { return static_cast<SharedArea*>(memory_.data()); }
  // How others find it.
  Peer address() const { return {(*this)->token.load(), memory_.address()}; }

 private:
  core::SharedMemory memory_;
};

}  // namespace distrun::device::virtual_gpu
