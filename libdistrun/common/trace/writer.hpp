#pragma once
// A rank's side of its trace area: records what the rank does, one record per slice of time. Any thread; calls do not
// block or allocate, and only a thread's first makes a system call. A slice costs some tens of nanoseconds, most of
// them for the clock; without an area it costs one load.
//
// A process forked while its parent writes records nothing: it is not a rank.
#include <atomic>
#include <string_view>

#include <distrun/common/trace/layout.hpp>

namespace distrun::trace {

struct SliceInfo {
  Kind kind = Kind::Span;
  std::uint8_t detail = 0;
  Peers rule = Peers::None;
  bool has_more_peers = false;
  std::uint64_t peers = 0;
  std::uint64_t id = 0;
  std::string_view name;   // cut if too long
  std::string_view place;  // its end is kept if it is too long
  std::uint32_t line = 0;
};

// Returns the monotonic clock.
std::int64_t now_ns() noexcept;

class Writer {
 public:
  // Records nothing before follow().
  Writer() noexcept = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Writes into the rank's area of the memory at `path` from now on. Called again, it switches to another memory;
  // threads that are writing use one of the two. Returns 0, or the errno of the failure; then nothing is recorded.
  // Mappings stay until the process ends, since a thread may still write to them.
  int follow(const char* path, int rank) noexcept;
  bool is_on() const noexcept { return cells_.load(std::memory_order_relaxed) != nullptr; }

  // Begins a slice of the calling thread. Returns its number for end(), 0 if it is not recorded.
  std::uint64_t begin(const SliceInfo& info) noexcept { return is_on() ? put(info, now_ns(), 0) : 0; }
  // Begins a slice in the past, when its details were not known.
  std::uint64_t begin(const SliceInfo& info, std::int64_t begin_ns) noexcept {
    return is_on() ? put(info, begin_ns, 0) : 0;
  }
  // Ends a slice; any thread. Does nothing if newer slices have replaced it.
  void end(std::uint64_t number) noexcept;
  // Adds a slice that is over.
  void add(const SliceInfo& info, std::int64_t begin_ns, std::int64_t end_ns) noexcept {
    if (is_on()) put(info, begin_ns, end_ns);
  }

 private:
  std::uint64_t put(const SliceInfo& info, std::int64_t begin_ns, std::int64_t end_ns) noexcept;
  std::uint64_t write(const SliceInfo& info, std::int64_t begin_ns, std::int64_t end_ns) noexcept;
  void introduce_thread() noexcept;

  std::atomic<Cell*> cells_{nullptr};
  std::atomic<AreaHead*> head_{nullptr};
  std::atomic<std::uint64_t> mask_{0};      // maps numbers to cells
  std::atomic<std::uint64_t> memories_{0};  // number of memories followed
};

}  // namespace distrun::trace
