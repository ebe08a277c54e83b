// distrun ps: what the ranks of running distruns do, one line each.
#include <algorithm>
#include <cstdio>
#include <string>
#include <tuple>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rank_list.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/common/ledger/text.hpp>
#include <distrun/runner/daemon/address.hpp>
#include <distrun/runner/daemon/client.hpp>

#include "commands.hpp"
#include "exit_codes.hpp"
#include "ps_json.hpp"
#include "run_socket.hpp"
#include "run_words.hpp"

namespace distrun::cli {
namespace {

constexpr std::size_t kHostMax = 40;

std::string time_of(std::int64_t ms) { return ms < 0 ? "-" : base::human(std::chrono::milliseconds(ms)); }

std::string name_of(const wire::TestStatus& test) {
  const std::string text = base::one_line(test.test, 400) + ", " + time_of(test.test_ms);
  return test.attempt > 1 ? text + ", attempt " + std::to_string(test.attempt) : text;
}

std::string headline(const wire::RunStatus& run) {
  std::string text = "run " + run.run_id + " (pid " + std::to_string(run.pid) + "), " + std::to_string(run.done) +
                     " of " + std::to_string(run.count) + " tests done";
  if (run.tests.empty()) return text + ", between tests";
  return run.tests.size() == 1 ? text + ": " + name_of(run.tests.front()) : text;
}

// The memory of ranks on other hosts is not known.
std::string memory_of(const wire::RankStatus& rank) {
  if (!rank.host.empty()) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(rank.memory_bytes) / (1 << 20));
  return text;
}

// Returns the width of the column of hosts; 0: all ranks run on this machine, and there is no such column.
std::size_t width_of_hosts(const wire::TestStatus& test) {
  std::size_t width = 0;
  for (const wire::RankStatus& rank : test.ranks) width = std::max(width, base::one_line(rank.host, kHostMax).size());
  return width == 0 ? 0 : std::max(width, std::size_t{4});
}

std::string in_column(const std::string& text, std::size_t width) {
  return width == 0 ? "" : "  " + text + std::string(width - std::min(width, text.size()), ' ');
}

void print(const wire::TestStatus& test) {
  if (test.ranks.empty()) return;
  const std::size_t width = width_of_hosts(test);
  std::printf("  %4s%s  %7s  %-10s  %8s  %8s  %9s  %s\n", "rank", in_column("host", width).c_str(), "pid", "doing",
              "since", "cpu", "memory", "waits in");
  for (const wire::RankStatus& rank : test.ranks) {
    const std::string waits = rank.waits.empty() ? "" : "  " + base::one_line(rank.waits, 400);
    std::printf("  %4s%s  %7d  %-10s  %8s  %8s  %9s%s\n", base::rank_list({rank.rank}).c_str(),
                in_column(base::one_line(rank.host, kHostMax), width).c_str(), rank.pid,
                base::one_line(rank.doing).c_str(), time_of(rank.since_ms).c_str(),
                time_of(static_cast<std::int64_t>(rank.cpu_ms)).c_str(), memory_of(rank).c_str(), waits.c_str());
  }
}

void print_references(const wire::TestStatus& test) {
  std::vector<int> pids;  // ranks that are threads share one
  for (const wire::RankStatus& rank : test.ranks) {
    if (rank.pid > 0 && rank.host.empty() && std::find(pids.begin(), pids.end(), rank.pid) == pids.end())
      pids.push_back(rank.pid);
  }
  std::vector<ledger::Page> pages;
  for (const int pid : pids) {
    for (ledger::Page& each : ledger::read_pages(pid)) pages.push_back(std::move(each));
  }
  const std::string text = ledger::text_of(pages, base::system_clock().now().time_since_epoch().count());
  std::printf("%s", text.empty() ? "  no references\n" : text.c_str());
  const bool any_elsewhere = std::any_of(test.ranks.begin(), test.ranks.end(),
                                         [](const wire::RankStatus& rank) { return !rank.host.empty(); });
  if (any_elsewhere) std::printf("  references of ranks on other hosts are not shown\n");
}

void print(const wire::RunStatus& run, bool with_references) {
  std::printf("%s\n  %s\n  %s\n", headline(run).c_str(), command_text(run).c_str(), origin_text(run).c_str());
  for (const wire::TestStatus& test : run.tests) {
    if (run.tests.size() > 1) std::printf(" %s\n", name_of(test).c_str());
    print(test);
    if (with_references) print_references(test);
  }
}

std::string state_of(const wire::DaemonRun& run) {
  if (run.pid > 0) {
    return "(pid " + std::to_string(run.pid) + ") " +
           (run.over ? "has ended, and waits for the reader of its output" : "starts, " + time_of(run.since_ms));
  }
  return "has been queued in the daemon for " + time_of(run.since_ms) + (run.stopped ? ", stopped, " : ", ") +
         std::to_string(run.ahead) + " ahead";
}

void print(const wire::DaemonRun& run) {
  std::printf("run %s %s: %s\n", base::one_line(run.run_id).c_str(), state_of(run).c_str(), waiting_text(run).c_str());
}

// Returns the daemon's runs that have no coordinator to ask: they are queued, have only just started, or are over.
// Leaves the others in `told`.
std::vector<wire::DaemonRun> daemon_runs(const PsOptions& options, std::vector<std::string>& told) {
  std::vector<wire::DaemonRun> runs;
  try {
    const auto daemon = daemon::find_status(daemon::socket_path());
    if (daemon) runs = daemon->runs;
  } catch (const Error& error) {
    std::fprintf(stderr, "distrun: %s\n", base::printable(error.what()).c_str());
  }
  for (const wire::DaemonRun& run : runs) {
    if (run.over) std::erase(told, run.run_id);
  }
  std::erase_if(runs, [&](const wire::DaemonRun& run) {
    return !run.run_id.starts_with(options.run) || std::find(told.begin(), told.end(), run.run_id) != told.end();
  });
  return runs;
}

// The oldest comes first. Runs that do not answer are named on stderr.
std::vector<wire::RunStatus> statuses_of(const std::vector<std::string>& runs) {
  std::vector<wire::RunStatus> all;
  for (const std::string& id : runs) {
    try {
      all.push_back(ask_status(id));
    } catch (const Error& error) {
      std::fprintf(stderr, "distrun: %s: %s\n", base::one_line(id).c_str(), base::printable(error.what()).c_str());
    }
  }
  std::sort(all.begin(), all.end(), [](const wire::RunStatus& a, const wire::RunStatus& b) {
    return std::tie(a.started_ms, a.run_id) < std::tie(b.started_ms, b.run_id);
  });
  return all;
}

void print_text(const std::vector<wire::RunStatus>& running, const std::vector<wire::DaemonRun>& waiting,
                bool with_references) {
  for (std::size_t i = 0; i < running.size(); ++i) {
    if (i > 0) std::printf("\n");
    print(running[i], with_references);
  }
  if (!running.empty() && !waiting.empty()) std::printf("\n");
  for (const wire::DaemonRun& run : waiting) print(run);
  if (running.empty() && waiting.empty()) std::printf("no distrun of this user is running\n");
}

}  // namespace

int ps(const PsOptions& options) {
  std::vector<std::string> runs = running_ids();
  const std::vector<wire::DaemonRun> waiting = daemon_runs(options, runs);
  if (!options.run.empty() && waiting.empty()) runs = {find_run(options.run)};
  std::erase_if(runs, [&](const std::string& id) { return !id.starts_with(options.run); });
  const std::vector<wire::RunStatus> running = statuses_of(runs);
  if (options.json) {
    std::fputs(ps_json(running, waiting).c_str(), stdout);
  } else {
    print_text(running, waiting, options.references);
  }
  return running.empty() && waiting.empty() && !runs.empty() ? kInfraError : kSuccess;
}

}  // namespace distrun::cli
