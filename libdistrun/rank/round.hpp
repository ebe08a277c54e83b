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
  void begin(const wire::RunOrder& order);
  // What the test has left open in this process, if the order wants it looked for; told to one of the ranks.
  std::vector<wire::LeakReport> end();

 private:
  std::mutex mutex_;
  int running_ = 0;                 // guarded by mutex_, like what follows
  std::optional<OwnLeaks> before_;
};

}  // namespace distrun::rank
