#include <distrun/runner/proc/pidfd.hpp>

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include <distrun/common/base/error.hpp>

namespace distrun::proc {

base::Fd open_pidfd(pid_t pid) {
  const long fd = ::syscall(SYS_pidfd_open, pid, 0);  // always close-on-exec
  if (fd < 0) base::throw_errno("cannot watch process " + std::to_string(pid), errno);
  return base::Fd(static_cast<int>(fd));
}

std::optional<ExitStatus> try_reap(pid_t pid) {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG) != 0) {
    return ExitStatus::of_code(-1);
  }
  if (info.si_pid == 0) return std::nullopt;
  return ExitStatus::from(info);
}

}  // namespace distrun::proc
