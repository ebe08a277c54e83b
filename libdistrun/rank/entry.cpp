#include <distrun/rank/entry.hpp>

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include <distrun/base/error.hpp>
#include <distrun/board/board.hpp>
#include <distrun/board/slot_writer.hpp>
#include <distrun/rank/control_line.hpp>
#include <distrun/rank/crash_handler.hpp>
#include <distrun/rank/environment.hpp>
#include <distrun/rank/own_leaks.hpp>
#include <distrun/rank/rank_api.hpp>
#include <distrun/wire/skip_table.hpp>

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

// Where Yama lets nobody trace but ancestors, the coordinator and what it starts may: its probe. No effect elsewhere.
void let_probe_in(std::int32_t coordinator_pid) {
  ::prctl(PR_SET_PTRACER, static_cast<unsigned long>(coordinator_pid), 0, 0, 0);
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

int exit_code_of(std::int32_t result) {
  if (result == DISTRUN_OK) return 0;
  return result == DISTRUN_SKIPPED ? wire::find_skip("generic")->exit_code : wire::kTestErrorExitCode;
}

std::int32_t run_test(const Plugin* plugin, const std::string& path, const wire::RunOrder& order, RankApi& api) {
  std::optional<Plugin> own;
  try {
    if (plugin == nullptr) {
      api.enter_phase(wire::Phase::Load);
      plugin = &own.emplace(path);
    }
  } catch (const Error& error) {
    api.report(error.type(), error.what());
    return DISTRUN_FAILED;
  }
  if (order.debug) api.wait_for_debugger();
  const std::int32_t result = plugin->run(order.test_id, api.line());
  if (result == DISTRUN_NOT_FOUND) {
    api.report("PluginError", "the plugin lists the test " + order.test_id + " but does not know it when it is to run");
  } else if (result != DISTRUN_OK && result != DISTRUN_FAILED && result != DISTRUN_SKIPPED) {
    api.report("PluginError", "the plugin's run function returned " + std::to_string(result) + ", which means nothing");
  }
  return result;
}

}  // namespace

void run_rank(base::Fd control, base::Fd board, const Plugin* plugin, const std::string& path) {
  ControlLine line(std::move(control));
  line.send(wire::FrameKind::Hello, wire::Hello{wire::kControlAbi, ::getpid()});
  const wire::RunOrder order = line.receive_order();
  die_with(order.coordinator_pid);
  let_probe_in(order.coordinator_pid);
  const board::RankBoard shown(board.get(), order.rank, order.world_size);
  board.reset();
  board::SlotWriter writer(shown.own());
  writer.attach();
  install_crash_handler(shown.own()->crash);
  set_environment(order);
  line.start_listening(order.world_size, writer);
  RankApi api(order, line, writer);
  const std::optional<OwnLeaks> leaks = order.leaks_strict ? std::make_optional<OwnLeaks>() : std::nullopt;
  const std::int32_t result = run_test(plugin, path, order, api);
  if (leaks) {
    for (const wire::LeakReport& leak : leaks->look()) line.send(wire::FrameKind::Leak, leak);
  }
  writer.enter_phase(wire::Phase::Exit);
  // The result first: what may hang from here on (flushing into a full pipe that a test made) is the phase "exit".
  line.send(wire::FrameKind::Done, wire::Done{result == DISTRUN_OK, api.checks()});
  leave(exit_code_of(result));
}

}  // namespace distrun::rank
