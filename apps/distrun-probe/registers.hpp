#pragma once
// The general registers of a stopped thread, and what of them the unwinder and the diagnosis need. The one place that
// knows the architecture.
#include <elfutils/libdwfl.h>
#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>

namespace distrun::probe {

// Whether begin_call_again() does anything here.
#if defined(__x86_64__)
inline constexpr bool kCanBeginCallsAgain = true;
#else
inline constexpr bool kCanBeginCallsAgain = false;  // the first argument is overwritten when a call ends
#endif

// Of a thread in ptrace-stop, if a system call has just ended with EINTR and `may_begin_again` says so of its number:
// it is begun again when the thread goes on, unless a signal handler is to run first, of which it may know.
void begin_call_again(pid_t tid, bool (*may_begin_again)(long number));

class Registers {
 public:
  // Of a thread that sleeps in a system call, as far as the kernel tells without a stop.
  static Registers of_sleeping(std::uint64_t pc, std::uint64_t sp) noexcept;
  // Of a thread in ptrace-stop. False if it cannot be read, or belongs to another architecture.
  bool read(pid_t tid);

  std::uint64_t pc() const noexcept;
  std::uint64_t sp() const noexcept;
  // As if the function at pc, of which nothing is known, had just been called: `caller` is where it returns to.
  void return_to(std::uint64_t caller) noexcept;
  // The address that the thread waits for in the system call futex; 0: it is in no such call. In restart_syscall it
  // may be something else.
  std::uint64_t futex_address() const noexcept;
  // Hands those that are known to the unwinder.
  bool give_to(Dwfl_Thread* thread) const;

 private:
  user_regs_struct regs_{};
  bool only_place_ = false;  // nothing but pc and sp is known
};

}  // namespace distrun::probe
