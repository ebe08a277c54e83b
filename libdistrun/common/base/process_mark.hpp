#pragma once
// Marks objects with the process that opened them. A forked process has its parent's memory and descriptors, but none
// of its threads. If it used the parent's connection, its own call would never be answered, and the parent would lose
// the answers to its calls. An object with a connection or threads has a mark and checks it before each use:
//
//   base::ProcessMark mark_;
//   mark_.check("the store at 127.0.0.1:29500", "open the store again in this process", site);
//
// A destructor that would join a thread or notify a peer asks is_inherited(), and if so does nothing.
//
// A pthread_atfork() handler counts the forks, so a check costs two loads. A process created without libc's fork(),
// such as by a raw clone(), goes unnoticed.
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
  // If several threads or processes call it, the first call counts.
  void set_once() noexcept {
    std::uint32_t unset = 0;
    if (marked() == 0) generation_.compare_exchange_strong(unset, here(), std::memory_order_relaxed);
  }
  void clear() noexcept { generation_.store(0, std::memory_order_relaxed); }

  // Returns whether the calling process was forked, directly or indirectly, from the marked one.
  bool is_inherited() const noexcept { return marked() != here() && marked() != 0; }
  // Returns the marked process id, 0 if unset or no longer remembered.
  int pid() const noexcept;

  // Throws Error{Failed} if is_inherited(). Its text has `what` was opened, both processes, and `way_out`.
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

// Called on a thread that serves the process, after user code (`code`) forked on it and returned in the child: the rest
// of the thread belongs to the parent. Reports this on stderr and ends the forked process.
[[noreturn]] void end_forked_thread(const char* code) noexcept;

}  // namespace distrun::base
