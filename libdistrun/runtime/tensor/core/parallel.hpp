#pragma once
// Runs loops of operators on several threads. A rank's thread count comes from the environment (DISTRUN_THREADS: the
// machine's CPUs divided by its ranks); without it the rank has one. The threads belong to the process, are created on
// first use, and sleep between operators that are far apart; ranks that are threads share them.
//
// The caller does the work, and the other threads help. Each part goes to the thread that takes it first, so a thread
// that arrives late or never (busy machine, fork) blocks nothing. If the caller has to wait because a helper lost its
// CPU in the middle of a part, the next operators run without helpers, for longer each time: under load a rank uses one
// thread.
// thread.
//
// The boundaries of parts depend on the number of threads; results must not. So a body computes each element, or each
// block of a fixed size that is combined with others afterwards, in one way.
#include <cstdint>

namespace distrun::tensor {

// The largest number of threads that can be set.
inline constexpr int kMostThreads = 64;
// Returns the number of threads that an operator of this process may use now, including the caller: 1 to kMostThreads.
int threads() noexcept;

// Sets the number of threads for all threads of the process during a scope. Throws Error{InvalidArgument} for less than
// 1 or more than kMostThreads.
class ThreadsGuard {
 public:
  // The destructor restores the former number.
  explicit ThreadsGuard(int threads);
  ~ThreadsGuard();
  ThreadsGuard(const ThreadsGuard&) = delete;
  ThreadsGuard& operator=(const ThreadsGuard&) = delete;

 private:
  const int before_;
};

// Elementwise work of fewer elements per thread is not worth waking a thread.
inline constexpr std::int64_t kElementsEach = std::int64_t{1} << 16;

namespace detail {
// A type-erased body; must live until the call returns.
struct PartBody {
  const void* body;
  void (*run)(const void* body, std::int64_t first, std::int64_t end);
};
void run_parts(std::int64_t count, std::int64_t grain, PartBody body) noexcept;
}  // namespace detail

// Calls body(first, end) for parts that cover 0 .. count - 1, on several threads if there are more than `grain`
// elements; every part but the last is a multiple of `grain`. Returns when all are done. The body must not throw. On
// helper threads it runs outside of any rank: it must not use thread-local state.
template <class Body>
void parallel_for(std::int64_t count, std::int64_t grain, const Body& body) {
  if (count <= grain) return count > 0 ? body(std::int64_t{0}, count) : void();
  detail::run_parts(count, grain, {&body, [](const void* of, std::int64_t first, std::int64_t end) {
                                     (*static_cast<const Body*>(of))(first, end);
                                   }});
}

}  // namespace distrun::tensor

namespace distrun {
using tensor::ThreadsGuard;
}  // namespace distrun
