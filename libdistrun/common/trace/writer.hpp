#pragma once
// A rank's side of its area: what the rank does, a record for each slice of time. Any thread; no call blocks or
// allocates, and none makes a system call but a thread's first. A slice costs some tens of nanoseconds, most of it for
// the time of day; without an area it costs one load.
//
// A process that forks while it writes has a child that writes nothing: that is no rank.
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
  std::string_view name;   // longer ones are cut
  std::string_view place;  // of longer ones the end is kept
  std::uint32_t line = 0;
};

// The monotonic clock.
std::int64_t now_ns() noexcept;

class Writer {
 public:
  // Writes nothing until it is told where to.
  Writer() noexcept = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // From now on into that rank's area of the memory at `path`. Called again it goes on in another memory; threads that
  // write meanwhile write into one of the two. 0, or the errno of what is denied: then nothing is written. What is
  // mapped stays so until the process ends, since a thread may write for longer than anybody knows.
  int follow(const char* path, int rank) noexcept;
  bool is_on() const noexcept { return cells_.load(std::memory_order_relaxed) != nullptr; }

  // A slice of the calling thread that goes on; its number, for end(). 0: it is not written.
  std::uint64_t begin(const SliceInfo& info) noexcept { return is_on() ? put(info, now_ns(), 0) : 0; }
  // One that has begun before, when less was known of it.
  std::uint64_t begin(const SliceInfo& info, std::int64_t begin_ns) noexcept {
    return is_on() ? put(info, begin_ns, 0) : 0;
  }
  // Any thread. Nothing happens if newer slices have taken its place since.
  void end(std::uint64_t number) noexcept;
  // One that is over.
  void add(const SliceInfo& info, std::int64_t begin_ns, std::int64_t end_ns) noexcept {
    if (is_on()) put(info, begin_ns, end_ns);
  }

 private:
  std::uint64_t put(const SliceInfo& info, std::int64_t begin_ns, std::int64_t end_ns) noexcept;
  std::uint64_t write(const SliceInfo& info, std::int64_t begin_ns, std::int64_t end_ns) noexcept;
  void introduce_thread() noexcept;

  std::atomic<Cell*> cells_{nullptr};
  std::atomic<AreaHead*> head_{nullptr};
  std::atomic<std::uint64_t> mask_{0};      // of numbers: their cells
  std::atomic<std::uint64_t> memories_{0};  // that it has followed
};

}  // namespace distrun::trace
