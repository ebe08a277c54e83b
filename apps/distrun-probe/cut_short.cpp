#include "cut_short.hpp"

#include <fcntl.h>
#include <limits.h>
#include <linux/io_uring.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>

#include <distrun/common/base/fd.hpp>
#include <distrun/runner/evidence/proc/task_state.hpp>

#include "registers.hpp"

namespace distrun::probe {
namespace {

using evidence::CallInfo;
using evidence::CallShape;
using evidence::SyscallText;

constexpr long kNone = -1;
#ifdef SYS_epoll_wait
constexpr long kEpollWait = SYS_epoll_wait;
#else
constexpr long kEpollWait = kNone;
#endif
#ifdef SYS_epoll_pwait2
constexpr long kEpollPwait2 = SYS_epoll_pwait2;
#else
constexpr long kEpollPwait2 = kNone;
#endif

// Calls that always end with EINTR after a stop.
constexpr long kEnded[] = {kEpollWait,          SYS_epoll_pwait,  kEpollPwait2,      SYS_semop,         SYS_semtimedop,
                           SYS_rt_sigtimedwait, SYS_io_getevents, SYS_io_pgetevents, SYS_io_uring_enter};

bool is_one_of_ended(long number) {
  return number != kNone && std::find(std::begin(kEnded), std::end(kEnded), number) != std::end(kEnded);
}

CallShape shape_of(long number) {
  const CallInfo* info = evidence::find_call(number);
  return info == nullptr ? CallShape::Other : info->shape;
}

bool waits_on_descriptor(CallShape shape) {
  using enum CallShape;
  return shape == Reads || shape == Writes || shape == Accepts || shape == Connects;
}

// Returns whether one of kEnded has a time limit, or may have done a part of its work.
bool has_limit_or_part(const SyscallText& call) {
  const auto& args = call.args;
  if (call.number == kEpollWait || call.number == SYS_epoll_pwait) return static_cast<int>(args[3]) >= 0;
  if (call.number == kEpollPwait2 || call.number == SYS_semtimedop) return args[3] != 0;
  if (call.number == SYS_rt_sigtimedwait) return args[2] != 0;
  if (call.number == SYS_io_getevents || call.number == SYS_io_pgetevents) return args[4] != 0 || args[1] > 1;
  if (call.number == SYS_io_uring_enter) return args[1] != 0 || (args[3] & IORING_ENTER_EXT_ARG) != 0;
  return false;
}

bool read_shows_a_stop(const SyscallText& call, const WaitedOn& on) {
  if (call.number == SYS_recvmmsg) return true;  // some of several messages may have arrived
  const bool waits_for_all = (call.number == SYS_recvfrom && (call.args[3] & MSG_WAITALL) != 0) ||
                             (call.number == SYS_recvmsg && (call.args[2] & MSG_WAITALL) != 0);
  return waits_for_all || on.receive_limit;
}

// A write to a pipe that fits as a whole is atomic.
bool write_shows_a_stop(const SyscallText& call, const WaitedOn& on) {
  return !(call.number == SYS_write && on.pipe && call.args[2] <= PIPE_BUF);
}

// Returns "socket:[4711]", "pipe:[4711]", or a path.
std::string file_of(pid_t tid, int fd) {
  char text[64] = {};
  const std::string path = "/proc/" + std::to_string(tid) + "/fd/" + std::to_string(fd);
  const ssize_t size = ::readlink(path.c_str(), text, sizeof text);
  return {text, static_cast<std::size_t>(std::max<ssize_t>(0, size))};
}

bool has_limit(int socket, int option) {
  timeval limit{};
  socklen_t size = sizeof limit;
  const bool known = ::getsockopt(socket, SOL_SOCKET, option, &limit, &size) == 0;
  return !known || limit.tv_sec != 0 || limit.tv_usec != 0;
}

// If the kernel denies access to the socket, assumes that limits are set.
WaitedOn socket_of(pid_t pid, int fd) {
  const base::Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  const base::Fd socket(process ? static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), fd, 0)) : -1);
  if (!socket) return {false, true, true, true};
  return {false, true, has_limit(socket.get(), SO_RCVTIMEO), has_limit(socket.get(), SO_SNDTIMEO)};
}

WaitedOn waited_on(pid_t pid, pid_t tid, const SyscallText& call) {
  if (!waits_on_descriptor(shape_of(call.number))) return {};
  const int fd = static_cast<int>(call.args[0]);
  const std::string file = file_of(tid, fd);
  if (file.starts_with("socket:")) return socket_of(pid, fd);
  return {file.starts_with("pipe:"), false, false, false};
}

}  // namespace

bool shows_a_stop(const SyscallText& call, const WaitedOn& on) {
  if (is_one_of_ended(call.number)) return has_limit_or_part(call) || !kCanBeginCallsAgain;
  switch (shape_of(call.number)) {
    case CallShape::Reads: return read_shows_a_stop(call, on);
    case CallShape::Writes: return write_shows_a_stop(call, on);
    case CallShape::Moves:
    case CallShape::Sends: return true;
    case CallShape::Accepts: return on.receive_limit;
    case CallShape::Connects: return on.send_limit;
    default: return false;
  }
}

bool can_begin_again(long number) { return is_one_of_ended(number) || waits_on_descriptor(shape_of(number)); }

bool ended_at_limit(const SyscallText& call, bool has_slept) {
  if (has_slept) return false;
  return (call.number == SYS_io_getevents || call.number == SYS_io_pgetevents) && call.args[4] != 0;
}

std::optional<SyscallText> sleeping_call(const evidence::Tasks& tasks, pid_t tid) {
  auto call = evidence::read_call(tasks, tid);
  return call && call->where == SyscallText::Where::InCall ? std::move(call) : std::nullopt;
}

bool must_be_left(pid_t pid, pid_t tid, const SyscallText& call) {
  return !call.is_32_bit() && shows_a_stop(call, waited_on(pid, tid, call));
}

}  // namespace distrun::probe
