#pragma once
// Helpers of the specimens in plugins. Rank 1 hangs and the others wait for it in the barrier "meet", unless a specimen
// says otherwise.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include <distrun/test.hpp>

namespace zoo {

inline constexpr int kHanging = 1;
inline constexpr unsigned kPatienceS = 60;  // longer than any specimen runs

inline void await(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// Calls `hang` on rank 1.
inline void others_meet(distrun::Rank& rank, const std::function<void()>& hang) {
  if (rank.rank() == kHanging) {
    alarm(kPatienceS);
    hang();
  }
  rank.barrier("meet");
}

}  // namespace zoo
