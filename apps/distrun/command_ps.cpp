// distrun ps: what the ranks of running distruns do, a line each.
#include <cstdio>
#include <string>

#include <distrun/base/clock.hpp>
#include <distrun/base/error.hpp>
#include <distrun/base/rank_list.hpp>
#include <distrun/base/text.hpp>

#include "commands.hpp"
#include "exit_codes.hpp"
#include "run_socket.hpp"

namespace distrun::cli {
namespace {

std::string time_of(std::int64_t ms) { return ms < 0 ? "-" : base::human(std::chrono::milliseconds(ms)); }

std::string name_of(const wire::TestStatus& test) {
  const std::string text = base::one_line(test.test, 400) + ", " + time_of(test.test_ms);
  return test.attempt > 1 ? text + ", attempt " + std::to_string(test.attempt) : text;
}

std::string headline(const wire::RunStatus& run) {
  std::string text = "run " + run.run_id + " (pid " + std::to_string(run.pid) + "), " + std::to_string(run.done) +
                     " of " + std::to_string(run.count) + " tests done";
  if (run.tests.empty()) return text + ", between two tests";
  return run.tests.size() == 1 ? text + ": " + name_of(run.tests.front()) : text;
}

void print(const wire::TestStatus& test) {
  if (test.ranks.empty()) return;
  std::printf("  %4s  %7s  %-10s  %8s  %8s  %9s  %s\n", "rank", "pid", "doing", "since", "cpu", "memory", "waits in");
  for (const wire::RankStatus& rank : test.ranks) {
    const std::string waits = rank.waits.empty() ? "" : "  " + base::one_line(rank.waits, 400);
    std::printf("  %4s  %7d  %-10s  %8s  %8s  %5.1f MiB%s\n", base::rank_list({rank.rank}).c_str(), rank.pid,
                base::one_line(rank.doing).c_str(), time_of(rank.since_ms).c_str(),
                time_of(static_cast<std::int64_t>(rank.cpu_ms)).c_str(),
                static_cast<double>(rank.memory_bytes) / (1 << 20), waits.c_str());
  }
}

void print(const wire::RunStatus& run) {
  std::printf("%s\n", headline(run).c_str());
  for (const wire::TestStatus& test : run.tests) {
    if (run.tests.size() > 1) std::printf(" %s\n", name_of(test).c_str());
    print(test);
  }
}

}  // namespace

int ps(const PsOptions& options) {
  std::vector<std::string> runs = options.run.empty() ? running_ids() : std::vector<std::string>{find_run(options.run)};
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
  if (shown > 0) return kSuccess;
  std::printf("no distrun of this user runs at the moment\n");
  return runs.empty() ? kSuccess : kInfraError;
}

}  // namespace distrun::cli
