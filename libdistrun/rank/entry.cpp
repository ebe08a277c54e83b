#include <distrun/rank/entry.hpp>

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include <distrun/base/error.hpp>
#include <distrun/rank/control_line.hpp>
#include <distrun/rank/rank_process.hpp>

// There when the rank was built with the address or leak sanitizer.
extern "C" __attribute__((weak)) int __lsan_do_recoverable_leak_check();

namespace distrun::rank {
namespace {

constexpr int kLeakFoundExitCode = 23;  // the leak sanitizer's own

// The kernel kills this rank when the coordinator's thread that is its parent ends. Asked for only now that the
// parent is the coordinator: a forked rank had another one at birth. If it died before, the parent differs.
void die_with(std::int32_t coordinator_pid) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (::getppid() != coordinator_pid) ::_exit(1);
}

// On request only (DISTRUN_LEAK_CHECK=1): the check stops all threads by ptrace, which does not always succeed, and
// then ends the process itself.
bool wants_leak_check() {
  const char* wanted = std::getenv("DISTRUN_LEAK_CHECK");
  return __lsan_do_recoverable_leak_check != nullptr && wanted != nullptr && *wanted == '1';
}

// _exit, because static destructors and atexit handlers of the zygote's copy are not this rank's to run.
[[noreturn]] void leave(int code) {
  std::fflush(nullptr);
  if (wants_leak_check() && __lsan_do_recoverable_leak_check() != 0 && code == 0) code = kLeakFoundExitCode;
  ::_exit(code);
}

}  // namespace

void let_probe_in(std::int32_t coordinator_pid) {
  ::prctl(PR_SET_PTRACER, static_cast<unsigned long>(coordinator_pid), 0, 0, 0);
}

void depend_on(std::int32_t coordinator_pid) {
  die_with(coordinator_pid);
  let_probe_in(coordinator_pid);
}

void run_rank(base::Fd control, base::Fd board, const Plugin* plugin, const std::string& path) {
  ControlLine line(std::move(control));
  line.send(wire::FrameKind::Hello, 0, wire::Hello{wire::kControlAbi, ::getpid()});
  wire::RunOrder order = line.receive_order();
  depend_on(order.coordinator_pid);
  std::optional<RankProcess> process;
  try {
    process.emplace(line, board, plugin, path, order);
  } catch (const Error& error) {
    cannot_begin(line, order.rank, error);
  }
  board.reset();
  leave(process->run(std::move(order)));
}

}  // namespace distrun::rank
