#include "registers.hpp"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstddef>

namespace distrun::probe {

namespace {

#if defined(__x86_64__)
using VectorRegisters = user_fpregs_struct;
#else
using VectorRegisters = user_fpsimd_struct;
#endif

}  // namespace

std::uint64_t hash_of_vectors(pid_t tid) {
  constexpr std::uint64_t kOffset = 14695981039346656037U;  // FNV-1a
  constexpr std::uint64_t kPrime = 1099511628211U;
  VectorRegisters registers{};
  iovec place{&registers, sizeof registers};
  if (::ptrace(PTRACE_GETREGSET, tid, NT_PRFPREG, &place) != 0) return 0;
  std::uint64_t hash = kOffset;
  for (std::size_t i = 0; i < place.iov_len; ++i) {
    hash = (hash ^ reinterpret_cast<const unsigned char*>(&registers)[i]) * kPrime;
  }
  return hash;
}

bool Registers::read(pid_t tid) {
  iovec place{&regs_, sizeof regs_};
  return ::ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &place) == 0 && place.iov_len == sizeof regs_;
}

#if defined(__x86_64__)

std::optional<evidence::SyscallText> interrupted_call(pid_t tid) {
  user_regs_struct regs{};
  iovec place{&regs, sizeof regs};
  if (::ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &place) != 0 || place.iov_len != sizeof regs) return std::nullopt;
  const auto number = static_cast<long>(regs.orig_rax);
  if (number < 0 || static_cast<long>(regs.rax) != -EINTR) return std::nullopt;
  evidence::SyscallText call;
  call.number = number;
  call.args = {regs.rdi, regs.rsi, regs.rdx, regs.r10, regs.r8, regs.r9};
  return call;
}

void set_result(pid_t tid, long result) { ::ptrace(PTRACE_POKEUSER, tid, offsetof(user, regs.rax), result); }

Registers Registers::of_sleeping(const evidence::SyscallText& call) noexcept {
  Registers registers;
  registers.regs_.rip = call.instruction;
  registers.regs_.rsp = call.stack_pointer;
  registers.regs_.orig_rax = static_cast<unsigned long long>(call.number);
  registers.regs_.rdi = call.args[0];
  registers.only_place_ = true;
  return registers;
}

std::uint64_t Registers::pc() const noexcept { return regs_.rip; }
std::uint64_t Registers::sp() const noexcept { return regs_.rsp; }

void Registers::return_to(std::uint64_t caller) noexcept {
  regs_.rip = caller;
  regs_.rsp += sizeof caller;
}

std::uint64_t Registers::futex_address() const noexcept {
  return regs_.orig_rax == SYS_futex || regs_.orig_rax == SYS_restart_syscall ? regs_.rdi : 0;
}

long Registers::call() const noexcept { return static_cast<long>(regs_.orig_rax); }

std::vector<std::uint64_t> Registers::saved() const {
  return {regs_.rbx, regs_.rbp, regs_.r12, regs_.r13, regs_.r14, regs_.r15};
}

std::vector<std::uint64_t> Registers::scratch() const {
  return {regs_.rax, regs_.rcx, regs_.rdx, regs_.rsi, regs_.rdi, regs_.r8, regs_.r9, regs_.r10, regs_.r11};
}

bool Registers::in_call() const noexcept { return only_place_ || static_cast<long long>(regs_.orig_rax) >= 0; }

bool Registers::give_to(Dwfl_Thread* thread) const {
  constexpr int kStackPointer = 7;
  constexpr int kReturnAddress = 16;
  const Dwarf_Word sp = regs_.rsp;
  const Dwarf_Word pc = regs_.rip;
  if (only_place_) {
    return dwfl_thread_state_registers(thread, kStackPointer, 1, &sp) &&
           dwfl_thread_state_registers(thread, kReturnAddress, 1, &pc);
  }
  const Dwarf_Word in_dwarf_order[] = {regs_.rax, regs_.rdx, regs_.rcx, regs_.rbx, regs_.rsi, regs_.rdi,
                                       regs_.rbp, regs_.rsp, regs_.r8,  regs_.r9,  regs_.r10, regs_.r11,
                                       regs_.r12, regs_.r13, regs_.r14, regs_.r15, regs_.rip};
  return dwfl_thread_state_registers(thread, 0, sizeof in_dwarf_order / sizeof *in_dwarf_order, in_dwarf_order);
}

#elif defined(__aarch64__)

std::optional<evidence::SyscallText> interrupted_call(pid_t) { return std::nullopt; }

void set_result(pid_t, long) {}

Registers Registers::of_sleeping(const evidence::SyscallText& call) noexcept {
  Registers registers;
  registers.regs_.pc = call.instruction;
  registers.regs_.sp = call.stack_pointer;
  registers.regs_.regs[8] = static_cast<unsigned long long>(call.number);
  registers.regs_.regs[0] = call.args[0];
  registers.only_place_ = true;
  return registers;
}

std::uint64_t Registers::pc() const noexcept { return regs_.pc; }
std::uint64_t Registers::sp() const noexcept { return regs_.sp; }

void Registers::return_to(std::uint64_t) noexcept { regs_.pc = regs_.regs[30]; }

// The kernel overwrites x0, the first argument, only when the call returns.
std::uint64_t Registers::futex_address() const noexcept {
  return regs_.regs[8] == SYS_futex || regs_.regs[8] == SYS_restart_syscall ? regs_.regs[0] : 0;
}

long Registers::call() const noexcept { return -1; }

std::vector<std::uint64_t> Registers::saved() const { return {regs_.regs + 19, regs_.regs + 30}; }

std::vector<std::uint64_t> Registers::scratch() const {
  std::vector<std::uint64_t> registers(regs_.regs, regs_.regs + 19);
  registers.push_back(regs_.regs[30]);
  return registers;
}

bool Registers::in_call() const noexcept { return true; }  // the registers do not show it

bool Registers::give_to(Dwfl_Thread* thread) const {
  constexpr int kStackPointer = 31;
  if (only_place_) {
    const Dwarf_Word sp = regs_.sp;
    dwfl_thread_state_register_pc(thread, regs_.pc);
    return dwfl_thread_state_registers(thread, kStackPointer, 1, &sp);
  }
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
