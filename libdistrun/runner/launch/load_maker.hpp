#pragma once
// Makes the machine busy in ways that change all the time, for stress runs: one thread per core uses the CPU, writes
// memory, or rests, each for a random fraction of a second.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include <distrun/common/base/rng.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/runner/launch/node.hpp>

namespace distrun::launch {

class LoadMaker {
 public:
  // Starts the threads, if the plan has load for them. Throws Error{Overloaded} if one cannot be made.
  LoadMaker(const LoadPlan& plan, int cores);
  // Ends and joins them, within some milliseconds.
  ~LoadMaker();
  LoadMaker(const LoadMaker&) = delete;
  LoadMaker& operator=(const LoadMaker&) = delete;

 private:
  void stop() noexcept;
  void work(base::Rng rng);
  void rest_until(base::TimePoint end);

  const LoadPlan plan_;
  std::atomic<bool> is_over_{false};
  std::mutex mutex_;  // of `over_` only
  std::condition_variable over_;
  std::vector<base::Thread> threads_;  // the last member: they use the others
};

}  // namespace distrun::launch
