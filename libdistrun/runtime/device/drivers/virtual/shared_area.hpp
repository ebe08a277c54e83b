#pragma once
// The data that a process's virtual devices share with other processes of the machine, in shared memory: events and, if
// stream order is checked, accesses to memory that others share.
//
// Sizes are fixed, and all bytes initially zero. Data read from other processes is untrusted.
#include <array>
#include <atomic>
#include <cstdint>

#include <distrun/common/board/seq_cell.hpp>
#include <distrun/runtime/core/shared_memory.hpp>

namespace distrun::device::virtual_gpu {

inline constexpr std::size_t kSharedEvents = 256;
inline constexpr std::size_t kPeers = 64;
inline constexpr std::size_t kSharedStreams = 1024;
inline constexpr std::size_t kSharedAccesses = 512;  // the last ones
inline constexpr std::size_t kClockEntries = 256;    // more streams than a session uses at a time
inline constexpr std::size_t kSharedSteps = 6;

// A vector clock, without work that some host is known to have waited for.
struct SharedClock {
  struct Entry {
    std::uint64_t process;  // its token
    std::uint64_t stream;   // its number in that process
    std::uint64_t count;
  };
  std::uint64_t size;
  std::array<Entry, kClockEntries> entries;
};

struct SharedEvent {
  std::atomic<std::uint64_t> recorded;  // number of recordings
  std::atomic<std::uint64_t> done;      // last recording that is done
  std::atomic<std::int32_t> recorder;   // process of the last recording
  board::SeqCell<SharedClock> clock;
};

// An access to shared memory. Addresses are relative to the beginning of the device's memory.
struct SharedAccess {
  struct Step {
    std::int64_t stride, count;
  };
  std::uint64_t owner;  // token of the memory's owner
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
  std::atomic<std::uint64_t> token;  // random; identifies the process here
  std::atomic<std::int32_t> pid;
  std::array<SharedEvent, kSharedEvents> events;
  std::array<board::SeqCell<Peer>, kPeers> peers;  // users of this process's memory
  // The count of each stream's work that some host has waited for: accesses up to it do not conflict with later ones.
  std::array<std::atomic<std::uint64_t>, kSharedStreams> host_known;
  std::atomic<std::uint64_t> access_count;
  std::array<board::SeqCell<SharedAccess>, kSharedAccesses> accesses;
};

// A mapped area. Immovable.
class MappedArea {
 public:
  // Creates the area of this process. Throws Error{Failed}.
  MappedArea();
  // Maps another process's area. Throws Error{Disconnected} if that process has ended.
  explicit MappedArea(const Peer& other) : memory_(other.area, sizeof(SharedArea)) {}

  SharedArea& operator*() const noexcept { return *static_cast<SharedArea*>(memory_.data()); }
  SharedArea* operator->() const noexcept { return static_cast<SharedArea*>(memory_.data()); }
  // Returns the address for other processes.
  Peer address() const { return {(*this)->token.load(), memory_.address()}; }

 private:
  core::SharedMemory memory_;
};

}  // namespace distrun::device::virtual_gpu
