#pragma once
// Marks what belongs to the process that opened it. A forked process has the memory of its parent and the descriptors,
// but none of the threads: if it used the parent's connection, its own call would never be answered, and the parent
// would lose the answers to calls of its own. What holds such things has a mark, and asks it before each use:
//
//   base::ProcessMark mark_;
//   mark_.check("the store at 127.0.0.1:29500", "open the store again in this process", site);
//
// A destructor that would join a thread, or tell a peer, asks is_inherited(), and then leaves all as it is.
//
// Forks are counted by a handler of pthread_atfork(), so a check costs two loads. A process that was made past libc's
// fork(), as by a raw clone(), is not noticed.
#include <atomic>
#include <cstdint>
#include <string_view>

#include <distrun/common/base/location.hpp>

namespace distrun::base {

namespace detail {
extern std::atomic<std::uint32_t> generation;
}

// Thread-safe.
class ProcessMark {
 public:
  struct Unset {};

  // Marks the calling process.
  ProcessMark() noexcept : generation_(here()) {}
  // Belongs to no process until set().
  explicit constexpr ProcessMark(Unset) noexcept : generation_(0) {}

  ProcessMark(const ProcessMark& other) noexcept : generation_(other.marked()) {}
  ProcessMark& operator=(const ProcessMark& other) noexcept {
    generation_.store(other.marked(), std::memory_order_relaxed);
    return *this;
  }

  void set() noexcept { generation_.store(here(), std::memory_order_relaxed); }
  // Of several threads' calls, and of calls in several processes, the first one counts.
  void set_once() noexcept {
    std::uint32_t unset = 0;
    if (marked() == 0) generation_.compare_exchange_strong(unset, here(), std::memory_order_relaxed);
  }
  void clear() noexcept { generation_.store(0, std::memory_order_relaxed); }

  // Returns whether the calling process was forked, directly or not, from the one that is marked.
  bool is_inherited() const noexcept { return marked() != here() && marked() != 0; }
  // Returns the process id that was marked; 0 if it is unset or not known any more.
  int pid() const noexcept;

  // Throws Error{Failed} if is_inherited(), with `what` was opened, both processes, and the `way_out`.
  void check(std::string_view what, std::string_view way_out, Location site) const {
    if (is_inherited()) [[unlikely]]
      refuse(what, way_out, site);
  }
  [[noreturn]] void refuse(std::string_view what, std::string_view way_out, Location site) const;

 private:
  std::uint32_t marked() const noexcept { return generation_.load(std::memory_order_relaxed); }
  static std::uint32_t here() noexcept { return detail::generation.load(std::memory_order_relaxed); }

  std::atomic<std::uint32_t> generation_;
};

// Called on a thread that serves the process, when `code` of a user's has returned in a process that it forked: what
// follows is the parent's. Says so on standard error, and ends the forked process.
[[noreturn]] void end_forked_thread(const char* code) noexcept;

}  // namespace distrun::base
