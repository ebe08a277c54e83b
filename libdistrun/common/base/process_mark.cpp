#include <distrun/common/base/process_mark.hpp>

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <distrun/common/base/error.hpp>

namespace distrun::base {
namespace detail {

constinit std::atomic<std::uint32_t> generation{1};  // 1 + forks since the library was loaded

}  // namespace detail

namespace {

constexpr std::size_t kKnownMax = 64;  // generations with remembered process ids

// Process ids by generation. Written while the process has a single thread: at load time, or in the child of a fork.
constinit std::array<std::atomic<int>, kKnownMax> pids{};

std::atomic<int>& pid_of(std::uint32_t generation) noexcept { return pids[generation % kKnownMax]; }

void note_fork() noexcept {
  const std::uint32_t here = detail::generation.fetch_add(1, std::memory_order_relaxed) + 1;
  pid_of(here).store(::getpid(), std::memory_order_relaxed);
}

// If pthread_atfork() has no memory for the handler, forks go unnoticed.
[[maybe_unused]] const int is_counting = [] {
  pid_of(1).store(::getpid(), std::memory_order_relaxed);
  return ::pthread_atfork(nullptr, nullptr, &note_fork);
}();

}  // namespace

int ProcessMark::pid() const noexcept {
  if (marked() == 0 || here() - marked() >= kKnownMax) return 0;
  return pid_of(marked()).load(std::memory_order_relaxed);
}

void ProcessMark::refuse(std::string_view what, std::string_view way_out, Location site) const {
  const int opener = pid();
  throw Error(ErrorKind::Failed,
              std::string(what) + " cannot be used in process " + std::to_string(::getpid()) +
                  ", which was forked from " + (opener != 0 ? "process " + std::to_string(opener) : "the process") +
                  " that opened it; " + std::string(way_out),
              site);
}

void end_forked_thread(const char* code) noexcept {
  char text[160];
  const int size = std::snprintf(text, sizeof text,
                                 "distrun: process %d, which was forked in %s of process %d, returned from it; a "
                                 "forked process must end with _exit()\n",
                                 ::getpid(), code, ::getppid());
  static_cast<void>(!::write(STDERR_FILENO, text, static_cast<std::size_t>(std::min<int>(size, sizeof text - 1))));
  ::_exit(EXIT_FAILURE);
}

}  // namespace distrun::base
