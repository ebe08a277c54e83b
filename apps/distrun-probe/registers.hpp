#pragma once
// The general registers of a stopped thread, and what of them the unwinder and the diagnosis need. The one place that
// knows the architecture.
#include <elfutils/libdwfl.h>
#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>

namespace distrun::probe {

class Registers {
 public:
  // Of a thread in ptrace-stop. False if it cannot be read, or belongs to another architecture.
  bool read(pid_t tid);

  std::uint64_t pc() const noexcept;
  std::uint64_t sp() const noexcept;
  // As if the function at pc, of which nothing is known, had just been called: `caller` is where it returns to.
  void return_to(std::uint64_t caller) noexcept;
  // The address that the thread waits for in the system call futex; 0: it is in no such call.
  std::uint64_t futex_address() const noexcept;
  // Hands all to the unwinder.
  bool give_to(Dwfl_Thread* thread) const;

 private:
  user_regs_struct regs_{};
};

}  // namespace distrun::probe
