#pragma once
// The settings of a process and its threads. If ranks are persistent, a test's changes would affect the next test. So
// they are restored where that is safe, and reported; if that is impossible, the process runs no other test.
//
// Checked for a process: signal dispositions, limits, umask, directory, environment, locale, timers, standard streams,
// group, session and users, the handlers of std::terminate and operator new, and prctl settings. For a thread: signal
// mask, signal stack, floating-point modes, name, niceness and CPU affinity.
//
// No thread of a test may run meanwhile.
#include <fenv.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>

#include <array>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <distrun/common/wire/control.hpp>

namespace distrun::rank {

// The changes, in the order in which they were found.
struct Changes {
  std::vector<wire::LeakReport> told;
  bool used_up = false;  // something could not be restored

  // Restores something by `restore`, which returns whether it succeeded.
  template <class Restore>
  void put_back(const std::string& what, const Restore& restore) {
    const bool done = restore();
    told.push_back({false, what + (done ? ", which was restored" : ", which cannot be restored"), true});
    used_up = used_up || !done;
  }
};

class OwnState {
 public:
  // Records the current state.
  OwnState();
  // Accepts the current environment, which differs between tests.
  void take_environment();
  void put_back(Changes& changes) const;

 private:
  static constexpr int kSignals = 64;
  static constexpr int kLimits = RLIM_NLIMITS;
  // Settings that cannot be restored: if one differs, the process cannot be reused.
  using Fixed = std::array<long, 14>;
  static Fixed fixed_now();

  void put_back_signals(Changes& changes) const;
  void put_back_limits(Changes& changes) const;
  void put_back_environment(Changes& changes) const;
  void put_back_places(Changes& changes) const;
  void put_back_process(Changes& changes) const;

  std::array<struct sigaction, kSignals + 1> actions_{};  // by signal
  std::array<rlimit, kLimits> limits_{};
  std::vector<std::string> environment_;
  mode_t umask_ = 0;
  std::string directory_;
  std::string locale_;
  pid_t group_ = 0;
  std::terminate_handler terminate_ = nullptr;
  std::new_handler no_memory_ = nullptr;
  int death_signal_ = 0;
  Fixed fixed_{};
};

// Settings of the calling thread.
class OwnThread {
 public:
  OwnThread();
  void put_back(Changes& changes) const;

 private:
  sigset_t mask_{};
  stack_t signal_stack_{};
  int rounding_ = 0;
  int trapped_ = 0;
  unsigned float_modes_ = 0;
  char name_[16] = "";
  int niceness_ = 0;
  cpu_set_t processors_{};
};

}  // namespace distrun::rank
