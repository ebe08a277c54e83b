#pragma once
// What the ranks of a process share while a test runs: the environment, how the process is set, and what was open
// before the test. The first rank that begins sets it up while the others still wait for their orders; the last that
// ends puts back what the test has changed, and looks at what is left. Thread-safe.
#include <mutex>
#include <optional>

#include <distrun/common/wire/control.hpp>
#include <distrun/plugin/rank/own_leaks.hpp>
#include <distrun/plugin/rank/own_state.hpp>

namespace distrun::rank {

// Whether what a test changes of its process matters to anybody: another test comes. What a host or a suite's set-up
// changes is for the suite's tests.
inline bool looks_at_state(const wire::RunOrder& order, bool sets_up_suite) {
  return order.stay && !sets_up_suite && order.host == wire::HostWork::None;
}

class Round {
 public:
  // `sets_up_suite`: what the rank opens then is there to stay, and nobody looks for what is left.
  void begin(const wire::RunOrder& order, bool sets_up_suite);
  // What the test has changed of this process and left open in it goes to `changes`, and what it has to do with outside
  // is returned, as far as the order wants it looked for; told to one of the ranks.
  std::vector<wire::HeldName> end(Changes& changes);

 private:
  std::mutex mutex_;
  int running_ = 0;                // guarded by mutex_, like what follows
  std::optional<OwnState> state_;  // as it is to be; from the first test on, since it is put back
  std::optional<OwnLeaks> before_;
  std::vector<wire::WatchedDirectory> watched_;
};

}  // namespace distrun::rank
