#include <agents/pipe/transports/cma.hpp>

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>

#include <distrun/common/base/error.hpp>

namespace distrun::agents::pipe {
namespace {

constexpr std::size_t kReadMost = std::size_t{1} << 30;  // a call takes less than 2 GiB

// Returns how many bytes were read, or -1.
ssize_t read_some(std::int32_t pid, std::uint64_t from, std::byte* to, std::size_t bytes) noexcept {
  const iovec local{to, bytes};
  const iovec remote{reinterpret_cast<void*>(from), bytes};  // NOLINT(performance-no-int-to-ptr): of another process
  return ::process_vm_readv(pid, &local, 1, &remote, 1, 0);
}

// Seccomp filters of containers deny the system call altogether, even for own memory.
std::string try_on_own_memory() {
  const std::uint64_t known = 0x636d'612d'7465'7374;
  std::uint64_t found = 0;
  const ssize_t got = read_some(::getpid(), reinterpret_cast<std::uintptr_t>(&known),
                                reinterpret_cast<std::byte*>(&found), sizeof found);
  if (got == sizeof found && found == known) return {};
  return "process_vm_readv does not work here: " + (got < 0 ? base::errno_text(errno) : "it returned wrong data");
}

bool may_trace_all() {
  constexpr std::uint64_t kSysPtrace = std::uint64_t{1} << 19;  // CAP_SYS_PTRACE
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("CapEff:", 0) == 0) return (std::stoull(line.substr(7), nullptr, 16) & kSysPtrace) != 0;
  }
  return false;
}

// Returns how Yama prevents reading (kernel.yama.ptrace_scope). With scope 1 only ancestors may read a process, and
// ranks are siblings: each has to permit it. It permits all processes, since the peers' pids are not known yet; that is
// limited to this user's processes, as without Yama.
std::string ask_yama() {
  int scope = 0;
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
  if (scope <= 0 || (scope < 3 && may_trace_all())) return {};
  if (scope == 1 && ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0) == 0) return {};
  return "kernel.yama.ptrace_scope is " + std::to_string(scope);
}

std::string why_not() {
  if (::prctl(PR_GET_DUMPABLE) != 1) return "this process forbids reading its memory (PR_SET_DUMPABLE)";
  std::string why = try_on_own_memory();
  return why.empty() ? ask_yama() : why;
}

}  // namespace

Offer cma_offer() {
  struct stat space {};
  if (::stat("/proc/self/ns/pid", &space) != 0) {
    return {"cma", "", "the pid namespace is unknown: " + base::errno_text(errno)};
  }
  return {"cma", machine_descriptor() + ", pid namespace=" + std::to_string(space.st_ino), why_not()};
}

void read_remote(std::int32_t pid, std::uint64_t from, std::byte* to, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = read_some(pid, from, to, std::min(bytes, kReadMost));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == ESRCH) {
      throw Error(ErrorKind::Disconnected, "process " + std::to_string(pid) + " is gone");
    }
    if (got < 0) {
      base::throw_errno("cannot read " + std::to_string(bytes) + " bytes of process " + std::to_string(pid), errno);
    }
    if (got == 0) throw Error(ErrorKind::Failed, "process " + std::to_string(pid) + " has no readable memory there");
    from += static_cast<std::uint64_t>(got);
    to += got;
    bytes -= static_cast<std::size_t>(got);
  }
}

}  // namespace distrun::agents::pipe
