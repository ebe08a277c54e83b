#include <distrun/runner/evidence/proc/syscalls.hpp>

#include <sys/syscall.h>

#include <algorithm>
#include <cstdio>
#include <iterator>

#include <distrun/runner/evidence/proc/proc_files.hpp>

namespace distrun::evidence {
namespace {

using enum CallShape;

// The calls in which threads are commonly found; other calls are shown by number. Some exist only on some machines.
constexpr CallInfo kCalls[] = {
    {SYS_read, "read", Reads, "dxu"},
    {SYS_readv, "readv", Reads, "dxd"},
    {SYS_pread64, "pread64", Reads, "dxuu"},
    {SYS_preadv, "preadv", Reads, "dxdu"},
    {SYS_recvfrom, "recvfrom", Reads, "dxux"},
    {SYS_recvmsg, "recvmsg", Reads, "dxx"},
    {SYS_recvmmsg, "recvmmsg", Reads, "dxux"},
    {SYS_write, "write", Writes, "dxu"},
    {SYS_writev, "writev", Writes, "dxd"},
    {SYS_pwrite64, "pwrite64", Writes, "dxuu"},
    {SYS_pwritev, "pwritev", Writes, "dxdu"},
    {SYS_sendto, "sendto", Writes, "dxux"},
    {SYS_sendmsg, "sendmsg", Writes, "dxx"},
    {SYS_sendmmsg, "sendmmsg", Writes, "dxux"},
    {SYS_vmsplice, "vmsplice", Writes, "dxux"},
    {SYS_splice, "splice", Moves, "dxdxu"},
    {SYS_sendfile, "sendfile", Sends, "ddxu"},
    {SYS_accept, "accept", Accepts, "dxx"},
    {SYS_accept4, "accept4", Accepts, "dxxx"},
    {SYS_connect, "connect", Connects, "dxu"},
    {SYS_openat, "openat", OpensAt, "dxx"},
#ifdef SYS_open
    {SYS_open, "open", Opens, "xx"},
#endif
#ifdef SYS_poll
    {SYS_poll, "poll", Polls, "xud"},
#endif
    {SYS_ppoll, "ppoll", PollsSpec, "xu"},
#ifdef SYS_select
    {SYS_select, "select", Selects, "d"},
#endif
    {SYS_pselect6, "pselect6", SelectsSpec, "d"},
#ifdef SYS_epoll_wait
    {SYS_epoll_wait, "epoll_wait", EpollWaits, "dxdd"},
#endif
    {SYS_epoll_pwait, "epoll_pwait", EpollWaits, "dxdd"},
#ifdef SYS_epoll_pwait2
    {SYS_epoll_pwait2, "epoll_pwait2", EpollSpec, "dxdx"},
#endif
    {SYS_wait4, "wait4", WaitsChild, "dxx"},
    {SYS_waitid, "waitid", WaitsId, "ddxx"},
    {SYS_futex, "futex", Futex, "x"},
    {SYS_flock, "flock", Flock, "dd"},
    {SYS_fcntl, "fcntl", Fcntl, "ddx"},
    {SYS_nanosleep, "nanosleep", Sleeps, ""},
    {SYS_clock_nanosleep, "clock_nanosleep", SleepsClock, ""},
#ifdef SYS_pause
    {SYS_pause, "pause", Signal, ""},
#endif
    {SYS_rt_sigsuspend, "rt_sigsuspend", Signal, ""},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait", Signal, ""},
    {SYS_restart_syscall, "restart_syscall", Restarts, ""},
    {SYS_ioctl, "ioctl", Other, "dxx"},
    {SYS_fsync, "fsync", Other, "d"},
    {SYS_fdatasync, "fdatasync", Other, "d"},
    {SYS_msgrcv, "msgrcv", Other, "dxu"},
    {SYS_msgsnd, "msgsnd", Other, "dxux"},
    {SYS_semop, "semop", Other, "dxu"},
    {SYS_semtimedop, "semtimedop", Other, "dxu"},
    {SYS_io_getevents, "io_getevents", Other, "xdd"},
    {SYS_io_pgetevents, "io_pgetevents", Other, "xdd"},
#ifdef SYS_io_uring_enter
    {SYS_io_uring_enter, "io_uring_enter", Other, "duu"},
#endif
    {SYS_mq_timedreceive, "mq_timedreceive", Receives, "dxuxx"},
    {SYS_mq_timedsend, "mq_timedsend", Posts, "dxuux"},
    {SYS_sched_yield, "sched_yield", Other, ""},
    {SYS_clone, "clone", Clones, "x"},
#ifdef SYS_vfork
    {SYS_vfork, "vfork", Clones, ""},
#endif
    {SYS_execve, "execve", Other, "x"},
    {SYS_exit_group, "exit_group", Other, "d"},
    {SYS_close, "close", Other, "d"},
    {SYS_exit, "exit", Other, "d"},
    {SYS_clone3, "clone3", Clones, "xu"},
    {SYS_mmap, "mmap", Other, "xuxxdx"},
    {SYS_munmap, "munmap", Other, "xu"},
    {SYS_mprotect, "mprotect", Other, "xux"},
    {SYS_madvise, "madvise", Other, "xud"},
#ifdef SYS_fork
    {SYS_fork, "fork", Other, ""},
#endif
};

std::string argument_text(char kind, std::uint64_t value) {
  if (kind == 'd') return std::to_string(static_cast<std::int32_t>(value));
  if (kind == 'u') return std::to_string(value);
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

bool SyscallText::is_32_bit() const noexcept {
  constexpr std::uint64_t kEnd = std::uint64_t{1} << 32;
  return stack_pointer != 0 && stack_pointer < kEnd && instruction < kEnd;
}

std::optional<SyscallText> parse_syscall(std::string_view text) {
  SyscallText call;
  Words words(text.substr(0, text.find('\n')));
  const std::string_view first = words.next();
  if (first == "running") return call;
  const auto number = number_in<long>(first);
  if (!number) return std::nullopt;
  call.number = *number;
  call.where = *number < 0 ? SyscallText::Where::NotInCall : SyscallText::Where::InCall;
  for (std::size_t i = 0; *number >= 0 && i < call.args.size(); ++i) {
    const auto argument = number_in<std::uint64_t>(words.next(), 16);
    if (!argument) return std::nullopt;
    call.args[i] = *argument;
  }
  const auto stack = number_in<std::uint64_t>(words.next(), 16);
  const auto instruction = number_in<std::uint64_t>(words.next(), 16);
  if (!stack || !instruction) return std::nullopt;
  call.stack_pointer = *stack;
  call.instruction = *instruction;
  // Kernel threads are in no call, but show zeros.
  if (*stack == 0 && *instruction == 0) call.where = SyscallText::Where::NotInCall;
  return call;
}

const CallInfo* find_call(long number) {
  const CallInfo* found =
      std::find_if(std::begin(kCalls), std::end(kCalls), [&](const CallInfo& call) { return call.number == number; });
  return found == std::end(kCalls) ? nullptr : found;
}

const CallInfo* restarted_call(std::string_view kernel_function) {
  const auto contains = [&](std::string_view part) { return kernel_function.find(part) != std::string_view::npos; };
  if (contains("futex")) return find_call(SYS_futex);
  // While a sleep continues, often only the system call entry is left on the kernel stack.
  if (contains("sleep") || contains("do_syscall")) return find_call(SYS_clock_nanosleep);
#ifdef SYS_poll
  if (contains("poll")) return find_call(SYS_poll);
#else
  if (contains("poll")) return find_call(SYS_ppoll);
#endif
  return nullptr;
}

std::string describe_syscall(std::string_view line, std::string_view kernel_function) {
  const auto call = parse_syscall(line);
  if (!call || call->where != SyscallText::Where::InCall) return "";
  const CallInfo* info = find_call(call->number);
  if (info == nullptr) return "syscall " + std::to_string(call->number);
  if (info->shape == Restarts) {
    const CallInfo* restarted = restarted_call(kernel_function);
    if (restarted != nullptr) info = restarted;
  }
  std::string text;
  for (std::size_t i = 0; info->arguments[i] != '\0'; ++i) {
    text += (i == 0 ? "" : ", ") + argument_text(info->arguments[i], call->args[i]);
  }
  return text.empty() ? info->name : info->name + ("(" + text + ")");
}

}  // namespace distrun::evidence
