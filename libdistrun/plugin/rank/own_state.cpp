#include <distrun/plugin/rank/own_state.hpp>

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cfenv>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include <distrun/common/base/text.hpp>

namespace distrun::rank {
namespace {

constexpr __itimer_which kTimers[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};

std::vector<std::string> environment_now() {
  std::vector<std::string> variables;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) variables.emplace_back(*each);
  std::sort(variables.begin(), variables.end());
  return variables;
}

std::string name_in(const std::string& variable) { return variable.substr(0, variable.find('=')); }

// Sets the variable to its value in `right`, or unsets it if it is missing there.
bool put_back_variable(const std::string& name, const std::vector<std::string>& right) {
  for (const std::string& variable : right) {
    if (name_in(variable) != name) continue;
    return ::setenv(name.c_str(), variable.c_str() + std::min(variable.size(), name.size() + 1), 1) == 0;
  }
  return ::unsetenv(name.c_str()) == 0;
}

std::string directory_now() {
  char path[4096];
  return ::getcwd(path, sizeof path) != nullptr ? path : "";
}

std::string locale_now() {
  const char* locale = std::setlocale(LC_ALL, nullptr);
  return locale != nullptr ? locale : "";
}

mode_t umask_now() {
  const mode_t mask = ::umask(077);
  ::umask(mask);
  return mask;
}

// Compares the kernel's part of a signal set: the C library may leave anything in the rest.
bool same(const sigset_t& a, const sigset_t& b) { return std::memcmp(&a, &b, _NSIG / 8) == 0; }

bool same(const struct sigaction& a, const struct sigaction& b) {
  constexpr int kRestorer = 0x0400'0000;  // the C library always adds it
  return a.sa_handler == b.sa_handler && ((a.sa_flags ^ b.sa_flags) & ~kRestorer) == 0 && same(a.sa_mask, b.sa_mask);
}

bool same(const rlimit& a, const rlimit& b) { return a.rlim_cur == b.rlim_cur && a.rlim_max == b.rlim_max; }

bool runs(__itimer_which timer) {
  itimerval value{};
  return ::getitimer(timer, &value) == 0 && (value.it_value.tv_sec != 0 || value.it_value.tv_usec != 0);
}

// Identifies the file behind a descriptor; 0 if it is closed.
long file_of(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return 0;
  return static_cast<long>(status.st_ino ^ (status.st_dev << 48) ^ 1UL << 63);
}

int death_signal_now() {
  int signal = 0;
  ::prctl(PR_GET_PDEATHSIG, &signal, 0, 0, 0);
  return signal;
}

// Reads whether numbers near zero are flushed to zero, which the C library's rounding functions do not cover.
unsigned float_modes_now() {
#if defined(__x86_64__)
  constexpr unsigned kSticky = 0x3f;
  return __builtin_ia32_stmxcsr() & ~kSticky;
#else
  return 0;
#endif
}

bool set_float_modes([[maybe_unused]] unsigned modes) {
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(modes);
#endif
  return true;
}

}  // namespace

// ---- of the process

OwnState::Fixed OwnState::fixed_now() {
  int subreaper = 0;
  ::prctl(PR_GET_CHILD_SUBREAPER, &subreaper, 0, 0, 0);
  return {file_of(0),
          file_of(1),
          file_of(2),
          ::getsid(0),
          ::getuid(),
          ::geteuid(),
          ::getgid(),
          ::getegid(),
          ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0),
          ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0),
          subreaper,
          ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0),
          ::prctl(PR_GET_KEEPCAPS, 0, 0, 0, 0),
          ::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0)};
}

OwnState::OwnState()
    : umask_(umask_now()),
      directory_(directory_now()),
      locale_(locale_now()),
      group_(::getpgrp()),
      terminate_(std::get_terminate()),
      no_memory_(std::get_new_handler()),
      death_signal_(death_signal_now()),
      fixed_(fixed_now()) {
  for (int signal = 1; signal <= kSignals; ++signal) {
    ::sigaction(signal, nullptr, &actions_[static_cast<std::size_t>(signal)]);
  }
  for (int limit = 0; limit < kLimits; ++limit) {
    ::getrlimit(static_cast<__rlimit_resource>(limit), &limits_[static_cast<std::size_t>(limit)]);
  }
  take_environment();
}

void OwnState::take_environment() { environment_ = environment_now(); }

void OwnState::put_back(Changes& changes) const {
  put_back_signals(changes);
  put_back_limits(changes);
  put_back_environment(changes);
  put_back_places(changes);
  put_back_process(changes);
}

// The two signals that the C library reserves cannot be changed.
void OwnState::put_back_signals(Changes& changes) const {
  for (int signal = 1; signal <= kSignals; ++signal) {
    const struct sigaction& right = actions_[static_cast<std::size_t>(signal)];
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) != 0 || same(now, right)) continue;
    changes.put_back("the handler of " + base::signal_name(signal),
                     [&] { return ::sigaction(signal, &right, nullptr) == 0; });
  }
  for (const __itimer_which timer : kTimers) {
    const itimerval none{};
    if (runs(timer)) changes.put_back("a running timer", [&] { return ::setitimer(timer, &none, nullptr) == 0; });
  }
}

void OwnState::put_back_limits(Changes& changes) const {
  static constexpr const char* kNames[kLimits] = {
      "RLIMIT_CPU",      "RLIMIT_FSIZE",  "RLIMIT_DATA",    "RLIMIT_STACK", "RLIMIT_CORE",  "RLIMIT_RSS",
      "RLIMIT_NPROC",    "RLIMIT_NOFILE", "RLIMIT_MEMLOCK", "RLIMIT_AS",    "RLIMIT_LOCKS", "RLIMIT_SIGPENDING",
      "RLIMIT_MSGQUEUE", "RLIMIT_NICE",   "RLIMIT_RTPRIO",  "RLIMIT_RTTIME"};
  for (int limit = 0; limit < kLimits; ++limit) {
    const auto resource = static_cast<__rlimit_resource>(limit);
    const rlimit& right = limits_[static_cast<std::size_t>(limit)];
    rlimit now{};
    if (::getrlimit(resource, &now) != 0 || same(now, right)) continue;
    changes.put_back(kNames[limit], [&] { return ::setrlimit(resource, &right) == 0; });
  }
}

void OwnState::put_back_environment(Changes& changes) const {
  const std::vector<std::string> now = environment_now();
  if (now == environment_) return;
  std::vector<std::string> different;
  std::set_symmetric_difference(now.begin(), now.end(), environment_.begin(), environment_.end(),
                                std::back_inserter(different));
  std::string last;
  for (const std::string& variable : different) {
    const std::string name = name_in(variable);
    if (name == std::exchange(last, name)) continue;  // skips the second of the old and the new value
    changes.put_back("the variable " + name, [&] { return put_back_variable(name, environment_); });
  }
}

void OwnState::put_back_places(Changes& changes) const {
  if (umask_now() != umask_) changes.put_back("the umask", [&] { return ::umask(umask_), true; });
  if (directory_now() != directory_) {
    changes.put_back("the current directory", [&] { return ::chdir(directory_.c_str()) == 0; });
  }
  if (locale_now() != locale_) {
    changes.put_back("the locale", [&] { return std::setlocale(LC_ALL, locale_.c_str()) != nullptr; });
  }
}

void OwnState::put_back_process(Changes& changes) const {
  if (std::get_terminate() != terminate_) {
    changes.put_back("the terminate handler", [&] { return std::set_terminate(terminate_), true; });
  }
  if (std::get_new_handler() != no_memory_) {
    changes.put_back("the new handler", [&] { return std::set_new_handler(no_memory_), true; });
  }
  if (death_signal_now() != death_signal_) {
    changes.put_back("the parent-death signal", [&] { return ::prctl(PR_SET_PDEATHSIG, death_signal_, 0, 0, 0) == 0; });
  }
  if (::getpgrp() != group_) changes.put_back("its process group", [&] { return ::setpgid(0, group_) == 0; });
  static constexpr const char* kNames[] = {"standard input",
                                           "standard output",
                                           "standard error",
                                           "its session",
                                           "its user",
                                           "its effective user",
                                           "its group",
                                           "its effective group",
                                           "no_new_privs",
                                           "its seccomp mode",
                                           "whether it is a subreaper",
                                           "whether it is dumpable",
                                           "its kept capabilities",
                                           "its timer slack"};
  const Fixed now = fixed_now();
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i] != fixed_[i]) changes.put_back(kNames[i], [] { return false; });
  }
}

// ---- of the thread

OwnThread::OwnThread()
    : rounding_(std::fegetround()),
      trapped_(::fegetexcept()),
      float_modes_(float_modes_now()),
      niceness_(::getpriority(PRIO_PROCESS, 0)) {
  pthread_sigmask(SIG_SETMASK, nullptr, &mask_);
  ::sigaltstack(nullptr, &signal_stack_);
  ::prctl(PR_GET_NAME, name_, 0, 0, 0);
  ::sched_getaffinity(0, sizeof processors_, &processors_);
}

void OwnThread::put_back(Changes& changes) const {
  const OwnThread now;
  if (!same(now.mask_, mask_)) {
    changes.put_back("the signal mask", [&] { return pthread_sigmask(SIG_SETMASK, &mask_, nullptr) == 0; });
  }
  if (now.signal_stack_.ss_sp != signal_stack_.ss_sp) {
    changes.put_back("the signal stack", [&] { return ::sigaltstack(&signal_stack_, nullptr) == 0; });
  }
  if (now.rounding_ != rounding_) {
    changes.put_back("the rounding mode", [&] { return std::fesetround(rounding_) == 0; });
  }
  if (now.trapped_ != trapped_) {
    changes.put_back("the trapped floating-point exceptions",
                     [&] { return ::fedisableexcept(FE_ALL_EXCEPT) >= 0 && ::feenableexcept(trapped_) >= 0; });
  }
  if (float_modes_now() != float_modes_) {
    changes.put_back("the floating-point modes", [&] { return set_float_modes(float_modes_); });
  }
  if (std::strcmp(now.name_, name_) != 0) {
    changes.put_back("the thread's name", [&] { return ::prctl(PR_SET_NAME, name_, 0, 0, 0) == 0; });
  }
  if (now.niceness_ != niceness_) {
    changes.put_back("the niceness", [&] { return ::setpriority(PRIO_PROCESS, 0, niceness_) == 0; });
  }
  if (!CPU_EQUAL(&now.processors_, &processors_)) {
    changes.put_back("the CPU affinity", [&] { return ::sched_setaffinity(0, sizeof processors_, &processors_) == 0; });
  }
}

}  // namespace distrun::rank
