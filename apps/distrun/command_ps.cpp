// distrun ps: what the ranks of running distruns do, a line each.
#include <algorithm>
#include <cstdio>
#include <string>

#include <distrun/base/clock.hpp>
#include <distrun/base/error.hpp>
#include <distrun/base/text.hpp>
#include <distrun/daemon/address.hpp>
#include <distrun/daemon/client.hpp>

#include "commands.hpp"
#include "exit_codes.hpp"
#include "run_socket.hpp"

namespace distrun::cli {
namespace {

std::string time_of(std::int64_t ms) { return ms < 0 ? "-" : base::human(std::chrono::milliseconds(ms)); }

std::string headline(const wire::RunStatus& run) {
  std::string text = "run " + run.run_id + " (pid " + std::to_string(run.pid) + "), " + std::to_string(run.done) +
                     " of " + std::to_string(run.count) + " tests done";
  if (run.test.empty()) return text + ", between two tests";
  text += ": " + base::one_line(run.test, 400) + ", " + time_of(run.test_ms);
  return run.attempt > 1 ? text + ", attempt " + std::to_string(run.attempt) : text;
}

void print(const wire::RunStatus& run) {
  std::printf("%s\n", headline(run).c_str());
  if (run.ranks.empty()) return;
  std::printf("  %4s  %7s  %-10s  %8s  %8s  %9s  %s\n", "rank", "pid", "doing", "since", "cpu", "memory", "waits in");
  for (const wire::RankStatus& rank : run.ranks) {
    const std::string waits = rank.waits.empty() ? "" : "  " + base::one_line(rank.waits, 400);
    std::printf("  %4d  %7d  %-10s  %8s  %8s  %5.1f MiB%s\n", rank.rank, rank.pid, base::one_line(rank.doing).c_str(),
                time_of(rank.since_ms).c_str(), time_of(static_cast<std::int64_t>(rank.cpu_ms)).c_str(),
                static_cast<double>(rank.memory_bytes) / (1 << 20), waits.c_str());
  }
}

// Of the daemon's runs those that no coordinator tells of: they wait, or have only just started.
void print(const wire::DaemonRun& run) {
  const std::string age = time_of(run.since_ms);
  const std::string stopped = run.stopped ? ", stopped" : "";
  if (run.pid > 0) {
    std::printf("run %s (pid %d) starts, %s: %s\n", run.run_id.c_str(), run.pid, age.c_str(),
                base::one_line(run.command).c_str());
  } else {
    std::printf("run %s waits in the daemon for %s%s, %d ahead: %s\n", run.run_id.c_str(), age.c_str(), stopped.c_str(),
                run.ahead, base::one_line(run.command).c_str());
  }
}

std::vector<wire::DaemonRun> daemon_runs(const PsOptions& options, const std::vector<std::string>& told) {
  std::vector<wire::DaemonRun> runs;
  try {
    const auto daemon = daemon::find_status(daemon::socket_path());
    if (daemon) runs = daemon->runs;
  } catch (const Error& error) {
    std::fprintf(stderr, "distrun: %s\n", error.what());
  }
  std::erase_if(runs, [&](const wire::DaemonRun& run) {
    return !run.run_id.starts_with(options.run) || std::find(told.begin(), told.end(), run.run_id) != told.end();
  });
  return runs;
}

}  // namespace

int ps(const PsOptions& options) {
  std::vector<std::string> runs = running_ids();
  const std::vector<wire::DaemonRun> waiting = daemon_runs(options, runs);
  if (!options.run.empty() && waiting.empty()) runs = {find_run(options.run)};
  std::erase_if(runs, [&](const std::string& id) { return !id.starts_with(options.run); });
  int shown = 0;
  for (const std::string& id : runs) {
    try {
      const wire::RunStatus status = ask_status(id);
      if (shown++ > 0) std::printf("\n");
      print(status);
    } catch (const Error& error) {
      std::fprintf(stderr, "distrun: %s: %s\n", base::one_line(id).c_str(), error.what());
    }
  }
  if (shown > 0 && !waiting.empty()) std::printf("\n");
  for (const wire::DaemonRun& run : waiting) print(run);
  if (shown > 0 || !waiting.empty()) return kSuccess;
  std::printf("no distrun of this user runs at the moment\n");
  return runs.empty() ? kSuccess : kInfraError;
}

}  // namespace distrun::cli
