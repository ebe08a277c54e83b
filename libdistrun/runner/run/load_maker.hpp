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

namespace distrun::runner {

struct LoadKinds {
  bool cpu = false;
  bool memory = false;
};

class LoadMaker {
 public:
  // Starts the threads, if there is any kind of load. Throws Error{Overloaded} if one cannot be made.
  LoadMaker(LoadKinds kinds, int cores, std::uint64_t seed);
  // Ends and joins them, within some milliseconds.
  ~LoadMaker();
  LoadMaker(const LoadMaker&) = delete;
  LoadMaker& operator=(const LoadMaker&) = delete;

 private:
  void stop() noexcept;
  void work(base::Rng rng);
  void rest_until(base::TimePoint end);

  const LoadKinds kinds_;
  std::atomic<bool> is_over_{false};
  std::mutex mutex_;  // of `over_` only
  std::condition_variable over_;
  std::vector<base::Thread> threads_;  // the last member: they use the others
};

}  // namespace distrun::runner
