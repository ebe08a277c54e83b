// The time limit of a socket is no argument of its calls, and /proc does not show it. It is asked for through a copy of
// the descriptor, which needs the right to trace the process, and changes nothing.
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <optional>

#include <distrun/common/base/fd.hpp>
#include <distrun/runner/evidence/waits/decode_call.hpp>

namespace distrun::evidence {
namespace {

bool is_any_socket(DescriptorKind kind) {
  return kind == DescriptorKind::UnixSocket || kind == DescriptorKind::Tcp || kind == DescriptorKind::Udp ||
         kind == DescriptorKind::OtherSocket;
}

std::optional<timeval> limit_of(pid_t pid, int fd, bool writes) {
  const base::Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process) return std::nullopt;
  const base::Fd copy(static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), fd, 0)));
  timeval limit{};
  socklen_t size = sizeof limit;
  if (!copy || ::getsockopt(copy.get(), SOL_SOCKET, writes ? SO_SNDTIMEO : SO_RCVTIMEO, &limit, &size) != 0) {
    return std::nullopt;
  }
  return limit;
}

}  // namespace

void set_socket_limit(const Descriptor* descriptor, bool writes, Blocked& blocked) {
  if (descriptor == nullptr || !is_any_socket(descriptor->kind)) return;
  const std::optional<timeval> limit = limit_of(blocked.pid, descriptor->fd, writes);
  blocked.may_be_bounded = !limit;
  if (!limit || (limit->tv_sec == 0 && limit->tv_usec == 0)) return;
  blocked.bounded = true;
  blocked.limit = shown_length(limit->tv_sec, limit->tv_usec * 1000);
}

}  // namespace distrun::evidence
