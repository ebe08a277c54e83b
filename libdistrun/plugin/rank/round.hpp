#pragma once
// State that the ranks of a process share during a test: the environment, the process's settings, and what was open
// before the test. The first rank that begins sets it up while the others still wait for their orders; the last that
// ends undoes the test's changes and looks for leaks. Thread-safe.
#include <mutex>
#include <optional>

#include <distrun/common/wire/control.hpp>
#include <distrun/plugin/rank/own_leaks.hpp>
#include <distrun/plugin/rank/own_state.hpp>

namespace distrun::rank {

// Returns whether a test's changes to its process matter: another test follows. Changes by a host or a suite's set-up
// are meant for the suite's tests.
inline bool looks_at_state(const wire::RunOrder& order, bool sets_up_suite) {
  return order.stay && !sets_up_suite && order.host == wire::HostWork::None;
}

class Round {
 public:
  // `sets_up_suite`: the rank opens things for the suite, so they do not count as leaks.
  void begin(const wire::RunOrder& order, bool sets_up_suite);
  // Adds the test's changes to this process and its leaks to `changes`, and returns the shared names that the process
  // uses, as far as the order asks for them. Only the last rank to end gets them.
  std::vector<wire::HeldName> end(Changes& changes);

 private:
  std::mutex mutex_;
  int running_ = 0;                // guarded by mutex_, as are the members below
  std::optional<OwnState> state_;  // the state to restore, from the first test on
  std::optional<OwnLeaks> before_;
  std::vector<wire::WatchedDirectory> watched_;
};

}  // namespace distrun::rank
