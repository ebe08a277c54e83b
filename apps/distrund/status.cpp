#include <cstdio>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/daemon/client.hpp>

#include "serve.hpp"

namespace distrun::daemon {
namespace {

std::string time_of(std::int64_t ms) { return base::human(base::Milliseconds(ms)); }

int running_in(const wire::DaemonStatus& status) {
  int running = 0;
  for (const wire::DaemonRun& run : status.runs) running += run.pid > 0 ? 1 : 0;
  return running;
}

void print(const wire::DaemonRun& run) {
  const std::string state = run.over ? "prints" : run.stopped ? "stopped" : run.pid > 0 ? "runs" : "waits";
  std::printf("  %s  %-7s  %10s  %s\n", base::one_line(run.run_id).c_str(), state.c_str(),
              time_of(run.since_ms).c_str(), base::one_line(run.command).c_str());
}

}  // namespace

int show_status(const Options& options) {
  const wire::DaemonStatus status = ask_status(options.socket);
  const int running = running_in(status);
  std::printf("distrund %s (pid %d) at %s, up %s\n", base::one_line(status.version).c_str(), status.pid,
              options.socket.c_str(), time_of(status.up_ms).c_str());
  std::printf("%d running of %d at once, %zu waiting of %d, %llu done\n", running, status.parallel,
              status.runs.size() - static_cast<std::size_t>(running), status.queued_max,
              static_cast<unsigned long long>(status.done));
  for (const wire::DaemonRun& run : status.runs) print(run);
  return kEnded;
}

}  // namespace distrun::daemon
