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

bool has_wrapper = false;

// Lets the kernel kill this rank when the thread of the coordinator that is its parent ends. Called once the parent is
// the coordinator: a forked rank has another one at first. If the coordinator has died, the parent differs; a
// command that stays the rank's parent dies with the coordinator, and the rank with the command.
void die_with(std::int32_t coordinator_pid) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (!has_wrapper && ::getppid() != coordinator_pid) ::_exit(1);
}

ControlLine* own_line = nullptr;  // of a process of one or several ranks

void stop_own_listener() {
  if (own_line != nullptr) own_line->stop_listening();
}

// Exits as programs do: exit handlers and static destructors run, buffers are flushed, and sanitizers and gcov finish.
// The result has been sent, and the listener keeps running, so a crash or hang on the way is seen as usual. Nothing
// that the listener needs is destroyed: it lives in the frames of run_rank(), which exit() does not unwind.
[[noreturn]] void leave(int code, bool quick) {
  set_exit_listener(nullptr);  // this exit() is distrun's
  if (!quick) std::exit(code);
  leave_at_once(code);
}

}  // namespace

void expect_wrapper() { has_wrapper = true; }

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
