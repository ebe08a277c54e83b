// While ranks wait, no process of distrun uses 1 % of a CPU.
#include <catch2/catch.hpp>

#include <signal.h>

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "daemon.hpp"

namespace {

using namespace distrun::testing;
using std::chrono::nanoseconds;

constexpr milliseconds kWatched{4000};
constexpr double kShareMax = 0.01;
constexpr int kRanks = 4;

// Returns the CPU time of the process's live threads.
nanoseconds cpu_of(pid_t pid) {
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task/";
  nanoseconds::rep all = 0;
  for (const std::string& task : names_in(tasks)) {
    nanoseconds::rep of_task = 0;
    std::istringstream(read_file(tasks + task + "/schedstat")) >> of_task;
    all += of_task;
  }
  return nanoseconds(all);
}

std::size_t threads_of(pid_t pid) { return names_in("/proc/" + std::to_string(pid) + "/task").size(); }

// A run with waiting ranks: for ever, or for another rank in a barrier.
struct IdleRun {
  IdleRun(const std::string& way_, const Daemon* daemon, std::vector<std::string> arguments)
      : way(way_), sandbox(distrun_program()) {
    arguments.insert(arguments.end(), {"--output", sandbox.output()});
    running =
        std::make_unique<Running>(daemon == nullptr ? sandbox.command(arguments) : daemon->command(sandbox, arguments));
  }

  bool are_all_in_body() const {
    const std::string events = read_file(sandbox.output() + "/events.ndjson");
    for (int rank = 0; rank < kRanks; ++rank) {
      if (events.find("\"rank\":" + std::to_string(rank) + ",\"phase\":\"body\"") == std::string::npos) return false;
    }
    return true;
  }

  std::string way;
  Sandbox sandbox;
  std::unique_ptr<Running> running;
};

std::list<IdleRun> start_all(const Daemon& daemon) {
  std::list<IdleRun> all;
  for (const std::string isolation : {"process", "exec", "pool", "threads"}) {
    const std::vector<std::string> arguments = {"run",
                                                "--isolation",
                                                isolation,
                                                "--timeout",
                                                "300s",
                                                "--filter",
                                                isolation == "pool" ? "Hangs.all_sleep" : "Hangs.one_sleeps"};
    for (const Daemon* with : {static_cast<const Daemon*>(nullptr), &daemon}) {
      std::vector<std::string> its = arguments;
      if (with != nullptr) its.emplace_back("--daemon");
      its.push_back(plugin("hangs"));
      all.emplace_back(isolation + (with == nullptr ? "" : " with the daemon"), with, its);
    }
  }
  return all;
}

struct Watched {
  std::string what;
  nanoseconds before{};
};

// Leaves out the probes: they look once, and end within some milliseconds. While they start, they have another name.
std::vector<ProcessInfo> lasting_processes(const IdleRun& run) {
  std::vector<ProcessInfo> first = run.sandbox.processes();
  pause_for(milliseconds(300));
  const std::vector<ProcessInfo> second = run.sandbox.processes();
  std::erase_if(first, [&](const ProcessInfo& info) {
    return std::none_of(second.begin(), second.end(), [&](const ProcessInfo& other) { return other.pid == info.pid; });
  });
  return first;
}

}  // namespace

TEST_CASE("no process of distrun takes 1 % of a CPU while ranks wait", "[idle]") {
  Daemon daemon(daemon_program(), {"--parallel", "64"});
  std::list<IdleRun> all = start_all(daemon);
  for (const IdleRun& each : all) {
    INFO(each.way);
    REQUIRE(eventually(scaled(milliseconds(30'000)), [&] {
      pause_for(milliseconds(20));
      return each.are_all_in_body();
    }));
  }
  constexpr std::size_t kThreadsMost = DISTRUN_SANITIZED_THREADS != 0 ? 2 : 1;  // the sanitizer may have a thread
  CHECK(threads_of(daemon.pid()) <= kThreadsMost);
  std::map<pid_t, Watched> watched = {{daemon.pid(), {"the daemon", cpu_of(daemon.pid())}}};
  for (const IdleRun& each : all) {
    const std::vector<ProcessInfo> processes = lasting_processes(each);
    CHECK(processes.size() >= 3);  // guard, coordinator, and ranks that are threads of one process
    for (const ProcessInfo& info : processes) {
      INFO(info.describe());
      if (info.name == "distrun") CHECK(threads_of(info.pid) <= kThreadsMost);  // guard and coordinator
    }
    for (const ProcessInfo& info : processes) {
      watched[info.pid] = {each.way + ", " + info.describe(), cpu_of(info.pid)};
    }
  }
  CHECK(watched.size() > 40);
  const auto from = std::chrono::steady_clock::now();
  pause_for(kWatched);
  for (const auto& [pid, process] : watched) {
    const std::chrono::duration<double> had = cpu_of(pid) - process.before;
    const std::chrono::duration<double> lasted = std::chrono::steady_clock::now() - from;
    INFO(process.what << " took " << had.count() << " s of CPU in " << lasted.count() << " s");
    CHECK(is_alive(pid));
    CHECK(had.count() < kShareMax * lasted.count());
  }
  for (const IdleRun& each : all) each.running->signal(SIGINT);
  for (IdleRun& each : all) CHECK(each.running->wait(scaled(milliseconds(20'000))).exit_code == 130);
}
