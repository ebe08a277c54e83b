#pragma once
// What the ranks of a process share while a test runs: the environment, and what was open before the test. The first
// rank that begins sets it up while the others still wait for their orders; the last that ends looks at what is left.
// Thread-safe.
#include <mutex>
#include <optional>
#include <vector>

#include <distrun/rank/own_leaks.hpp>
#include <distrun/wire/control.hpp>

namespace distrun::rank {

class Round {
 public:
  // `sets_up_suite`: what the rank opens then is there to stay, and nobody looks for what is left.
  void begin(const wire::RunOrder& order, bool sets_up_suite);
  // What the test has left open in this process, if the order wants it looked for; told to one of the ranks.
  std::vector<wire::LeakReport> end();

 private:
  std::mutex mutex_;
  int running_ = 0;                 // guarded by mutex_, like what follows
  std::optional<OwnLeaks> before_;
};

}  // namespace distrun::rank
