#pragma once
// Loops of operators on several threads. How many a rank may use it is told by whoever runs it: the machine's CPUs
// divided by its ranks (DISTRUN_THREADS in the environment); one that is told nothing has one. The threads are the
// process's, are made when they are first needed, and sleep between operators that are far apart; ranks that are
// threads share them.
//
// Who calls does the work, and the others help: a part belongs to whoever takes it first, so a thread that comes late
// or never, as on a machine with other work or in a fork, holds up nobody. If one that has taken a part is kept from
// its CPU so that the caller waits for it, the next operators do without, longer each time: under load a rank has one
// thread.
//
// Borders of parts depend on the number of threads. So that results do not, a body makes each element, or each block of
// a fixed size that is put together with others afterwards, in one way.
#include <cstdint>

namespace distrun::tensor {

// How many threads an operator of this process may use now, the caller among them; 1 to kMostThreads.
inline constexpr int kMostThreads = 64;
int threads() noexcept;

// For a scope: that many instead, for all threads of the process. Throws Error{InvalidArgument} for less than 1 or more
// than kMostThreads.
class ThreadsGuard {
 public:
  explicit ThreadsGuard(int threads);
  ~ThreadsGuard();
  ThreadsGuard(const ThreadsGuard&) = delete;
  ThreadsGuard& operator=(const ThreadsGuard&) = delete;

 private:
  const int before_;
};

// Of elementwise work: no thread is woken for less, which it would not be worth.
inline constexpr std::int64_t kElementsEach = std::int64_t{1} << 16;

namespace detail {
// A body without its type; it must live until the call returns.
struct PartBody {
  const void* body;
  void (*run)(const void* body, std::int64_t first, std::int64_t end);
};
void run_parts(std::int64_t count, std::int64_t grain, PartBody body) noexcept;
}  // namespace detail

// Calls body(first, end) for parts that make up 0 .. count - 1, on several threads at a time if there are more than
// `grain`; every part but the last has a multiple of `grain`. Returns when all are done. The body must not throw. On
// the helping threads it runs outside of any rank: it may ask for nothing that is a thread's own.
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
