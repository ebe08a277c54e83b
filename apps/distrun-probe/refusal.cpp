#include "refusal.hpp"

#include <unistd.h>

#include <fstream>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/evidence/proc/task_state.hpp>

namespace distrun::probe {
namespace {

int yama_scope() {
  std::ifstream file("/proc/sys/kernel/yama/ptrace_scope");
  int scope = 0;
  return file >> scope ? scope : 0;
}

std::string likely_cause(pid_t tid) {
  if (const pid_t tracer = evidence::tracer_of(tid)) {
    return "process " + std::to_string(tracer) + " (" + evidence::command_of(tracer) + ") already traces it";
  }
  const std::int64_t user = evidence::user_of(tid);
  if (user >= 0 && ::geteuid() != 0 && user != static_cast<std::int64_t>(::geteuid())) {
    return "it belongs to user " + std::to_string(user) + ", the probe runs as user " + std::to_string(::geteuid());
  }
  if (const int scope = yama_scope()) {
    return "kernel.yama.ptrace_scope is " + std::to_string(scope) + ", which forbids it unless the process allows it";
  }
  if (::geteuid() == 0) return "CAP_SYS_PTRACE is missing, or a sandbox forbids it (seccomp, a container's profile)";
  return "the process may have more rights than the probe, or has forbidden it (PR_SET_DUMPABLE)";
}

}  // namespace

std::string describe_refusal(pid_t tid, int error) {
  return "ptrace is not permitted: " + base::errno_text(error) + "; " + likely_cause(tid);
}

}  // namespace distrun::probe
