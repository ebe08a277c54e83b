#include <distrun/evidence/syscalls.hpp>

#include <sys/syscall.h>

#include <algorithm>
#include <iterator>

#include <distrun/evidence/proc_files.hpp>

namespace distrun::evidence {
namespace {

using enum CallShape;

// Calls in which a thread may stay for long. Those under #ifdef are not on every machine.
constexpr CallInfo kCalls[] = {
    {SYS_read, "read", Reads},
    {SYS_readv, "readv", Reads},
    {SYS_pread64, "pread64", Reads},
    {SYS_preadv, "preadv", Reads},
    {SYS_recvfrom, "recvfrom", Reads},
    {SYS_recvmsg, "recvmsg", Reads},
    {SYS_recvmmsg, "recvmmsg", Reads},
    {SYS_write, "write", Writes},
    {SYS_writev, "writev", Writes},
    {SYS_pwrite64, "pwrite64", Writes},
    {SYS_pwritev, "pwritev", Writes},
    {SYS_sendto, "sendto", Writes},
    {SYS_sendmsg, "sendmsg", Writes},
    {SYS_sendmmsg, "sendmmsg", Writes},
    {SYS_vmsplice, "vmsplice", Writes},
    {SYS_splice, "splice", Moves},
    {SYS_sendfile, "sendfile", Sends},
    {SYS_accept, "accept", Accepts},
    {SYS_accept4, "accept4", Accepts},
    {SYS_connect, "connect", Connects},
    {SYS_openat, "openat", OpensAt},
#ifdef SYS_open
    {SYS_open, "open", Opens},
#endif
#ifdef SYS_poll
    {SYS_poll, "poll", Polls},
#endif
    {SYS_ppoll, "ppoll", PollsSpec},
#ifdef SYS_select
    {SYS_select, "select", Selects},
#endif
    {SYS_pselect6, "pselect6", SelectsSpec},
#ifdef SYS_epoll_wait
    {SYS_epoll_wait, "epoll_wait", EpollWaits},
#endif
    {SYS_epoll_pwait, "epoll_pwait", EpollWaits},
#ifdef SYS_epoll_pwait2
    {SYS_epoll_pwait2, "epoll_pwait2", EpollSpec},
#endif
    {SYS_wait4, "wait4", WaitsChild},
    {SYS_waitid, "waitid", WaitsId},
    {SYS_futex, "futex", Futex},
    {SYS_flock, "flock", Flock},
    {SYS_fcntl, "fcntl", Fcntl},
    {SYS_nanosleep, "nanosleep", Sleeps},
    {SYS_clock_nanosleep, "clock_nanosleep", SleepsClock},
#ifdef SYS_pause
    {SYS_pause, "pause", Signal},
#endif
    {SYS_rt_sigsuspend, "rt_sigsuspend", Signal},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait", Signal},
    {SYS_restart_syscall, "restart_syscall", Restarts},
    {SYS_ioctl, "ioctl", Other},
    {SYS_fsync, "fsync", Other},
    {SYS_fdatasync, "fdatasync", Other},
    {SYS_msgrcv, "msgrcv", Other},
    {SYS_msgsnd, "msgsnd", Other},
    {SYS_semop, "semop", Other},
    {SYS_semtimedop, "semtimedop", Other},
    {SYS_io_getevents, "io_getevents", Other},
#ifdef SYS_io_uring_enter
    {SYS_io_uring_enter, "io_uring_enter", Other},
#endif
    {SYS_mq_timedreceive, "mq_timedreceive", Other},
    {SYS_mq_timedsend, "mq_timedsend", Other},
    {SYS_sched_yield, "sched_yield", Other},
    {SYS_clone, "clone", Other},
#ifdef SYS_vfork
    {SYS_vfork, "vfork", Other},
#endif
    {SYS_execve, "execve", Other},
    {SYS_exit_group, "exit_group", Other},
};

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
  // Threads of the kernel are in no call, but have zeros for one.
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
  if (contains("nanosleep")) return find_call(SYS_clock_nanosleep);
#ifdef SYS_poll
  if (contains("poll")) return find_call(SYS_poll);
#else
  if (contains("poll")) return find_call(SYS_ppoll);
#endif
  return nullptr;
}

}  // namespace distrun::evidence
