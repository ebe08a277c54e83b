#pragma once
// The general registers of a stopped thread, for the unwinder and the diagnosis. The probe's only architecture-specific
// code.
#include <elfutils/libdwfl.h>
#include <sys/types.h>
#include <sys/user.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <distrun/runner/evidence/proc/syscalls.hpp>

namespace distrun::probe {

// True if set_result() is supported.
#if defined(__x86_64__)
inline constexpr bool kCanBeginCallsAgain = true;
#else
inline constexpr bool kCanBeginCallsAgain = false;  // the first argument is overwritten when a call ends
#endif

// False: Registers::call() is always -1.
inline constexpr bool kShowsCalls = kCanBeginCallsAgain;

// Requires a thread in ptrace-stop. Returns the system call that has just ended with EINTR, if one has: its number and
// arguments.
std::optional<evidence::SyscallText> interrupted_call(pid_t tid);
// Sets the result of that call.
void set_result(pid_t tid, long result);
// The result that makes the kernel restart the call when the thread continues, unless a signal handler runs first: then
// the call returns EINTR.
inline constexpr long kRestartIfNoHandler = -514;

// Returns a hash of the floating-point and vector registers of a thread in ptrace-stop; 0 if they cannot be read.
std::uint64_t hash_of_vectors(pid_t tid);
// Instructions as they lie in memory: the one that tells the processor of a waiting loop, and the system call.
#if defined(__x86_64__)
inline constexpr std::array<unsigned char, 2> kPause{0xf3, 0x90};
inline constexpr std::array<unsigned char, 2> kSystemCall{0x0f, 0x05};
#else
inline constexpr std::array<unsigned char, 4> kPause{0x3f, 0x20, 0x03, 0xd5};  // yield
inline constexpr std::array<unsigned char, 4> kSystemCall{0x01, 0x00, 0x00, 0xd4};
#endif

class Registers {
 public:
  // Returns those of a thread that sleeps in a system call, as far as the kernel shows it without a stop.
  static Registers of_sleeping(const evidence::SyscallText& call) noexcept;
  // Reads a thread in ptrace-stop. Returns false if it cannot be read, or belongs to another architecture.
  bool read(pid_t tid);

  std::uint64_t pc() const noexcept;
  std::uint64_t sp() const noexcept;
  // Makes the registers look as if the function at pc had just been called, and returned to `caller`.
  void return_to(std::uint64_t caller) noexcept;
  // Returns the address that the thread waits for in the system call futex; 0 if it is in no such call. In
  // restart_syscall the address may be something else.
  std::uint64_t futex_address() const noexcept;
  // Returns false if the thread is in no system call for certain.
  bool in_call() const noexcept;
  // Returns the number of its system call; -1 if that is not known.
  long call() const noexcept;
  // Returns the registers that functions preserve for their callers, without pc and sp.
  std::vector<std::uint64_t> saved() const;
  // Returns the other general registers.
  std::vector<std::uint64_t> scratch() const;
  // Passes the known registers to the unwinder.
  bool give_to(Dwfl_Thread* thread) const;

 private:
  user_regs_struct regs_{};
  bool only_place_ = false;  // only pc and sp are known
};

}  // namespace distrun::probe
