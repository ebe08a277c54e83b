#include <distrun/plugin/rank/entry.hpp>

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/plugin/rank/control_line.hpp>
#include <distrun/plugin/rank/exit_call.hpp>
#include <distrun/plugin/rank/mount_space.hpp>
#include <distrun/plugin/rank/rank_process.hpp>

namespace distrun::rank {
namespace {

// The kernel kills this rank when the coordinator's thread that is its parent ends. Asked for only now that the
// parent is the coordinator: a forked rank had another one at birth. If it died before, the parent differs.
void die_with(std::int32_t coordinator_pid) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (::getppid() != coordinator_pid) ::_exit(1);
}

ControlLine* own_line = nullptr;  // of a process that is a rank, or several

void stop_own_listener() {
  if (own_line != nullptr) own_line->stop_listening();
}

// As programs end: exit handlers and static destructors run, buffers are flushed, and what a sanitizer or gcov does in
// the end is done. The result is out, and the listener goes on: who crashes or hangs on the way is seen as ever. So
// nothing that it needs is destroyed by that: it lives in the frames of run_rank(), which exit() does not leave.
[[noreturn]] void leave(int code, bool quick) {
  set_exit_listener(nullptr);  // this one is ours
  if (!quick) std::exit(code);
  leave_at_once(code);
}

}  // namespace

void let_probe_in(std::int32_t coordinator_pid) {
  ::prctl(PR_SET_PTRACER, static_cast<unsigned long>(coordinator_pid), 0, 0, 0);
}

void prepare_to_leave() { std::atexit(stop_own_listener); }

void leave_at_once(int code) {
  std::fflush(nullptr);
  stop_own_listener();
  ::_exit(code);
}

void depend_on(std::int32_t coordinator_pid) {
  die_with(coordinator_pid);
  let_probe_in(coordinator_pid);
}

void run_rank(base::Fd control, base::Fd board, const Plugin* plugin, const std::string& path,
              const wire::MountSpace& space) {
  ControlLine line(std::move(control));
  line.send(wire::ControlFrame::Hello, 0, wire::Hello{wire::kControlAbi, ::getpid()});
  wire::RunOrder order = line.receive_order();
  own_line = &line;
  depend_on(order.coordinator_pid);
  std::optional<RankProcess> process;
  try {
    enter(space);  // while there is one thread
    process.emplace(line, board, plugin, path, order);
  } catch (const Error& error) {
    cannot_begin(line, order.rank, error);
  }
  board.reset();
  const bool quick = order.quick_exit;
  leave(process->run(std::move(order)), quick);
}

}  // namespace distrun::rank
