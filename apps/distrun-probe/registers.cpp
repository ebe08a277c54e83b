#include "registers.hpp"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

namespace distrun::probe {

bool Registers::read(pid_t tid) {
  iovec place{&regs_, sizeof regs_};
  return ::ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &place) == 0 && place.iov_len == sizeof regs_;
}

#if defined(__x86_64__)

std::uint64_t Registers::pc() const noexcept { return regs_.rip; }
std::uint64_t Registers::sp() const noexcept { return regs_.rsp; }

void Registers::return_to(std::uint64_t caller) noexcept {
  regs_.rip = caller;
  regs_.rsp += sizeof caller;
}

std::uint64_t Registers::futex_address() const noexcept { return regs_.orig_rax == SYS_futex ? regs_.rdi : 0; }

bool Registers::give_to(Dwfl_Thread* thread) const {
  const Dwarf_Word in_dwarf_order[] = {regs_.rax, regs_.rdx, regs_.rcx, regs_.rbx, regs_.rsi, regs_.rdi,
                                       regs_.rbp, regs_.rsp, regs_.r8,  regs_.r9,  regs_.r10, regs_.r11,
                                       regs_.r12, regs_.r13, regs_.r14, regs_.r15, regs_.rip};
  return dwfl_thread_state_registers(thread, 0, sizeof in_dwarf_order / sizeof *in_dwarf_order, in_dwarf_order);
}

#elif defined(__aarch64__)

std::uint64_t Registers::pc() const noexcept { return regs_.pc; }
std::uint64_t Registers::sp() const noexcept { return regs_.sp; }

void Registers::return_to(std::uint64_t) noexcept { regs_.pc = regs_.regs[30]; }

// The kernel overwrites x0, the first argument, only when the call returns.
std::uint64_t Registers::futex_address() const noexcept { return regs_.regs[8] == SYS_futex ? regs_.regs[0] : 0; }

bool Registers::give_to(Dwfl_Thread* thread) const {
  Dwarf_Word in_dwarf_order[32];
  for (int i = 0; i < 31; ++i) in_dwarf_order[i] = regs_.regs[i];
  in_dwarf_order[31] = regs_.sp;
  dwfl_thread_state_register_pc(thread, regs_.pc);
  return dwfl_thread_state_registers(thread, 0, 32, in_dwarf_order);
}

#else
#error "the probe knows the registers of x86-64 and aarch64 only"
#endif

}  // namespace distrun::probe
