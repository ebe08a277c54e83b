// The cost of a run through the daemon, and a hundred clients, one of which does not read.
#include <benchmark/benchmark.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/daemon/client.hpp>

#include "programs.hpp"

namespace distrun::bench {
namespace {

const std::string kPrograms = DISTRUN_BIN_DIR;

// A daemon for one benchmark.
class Daemon {
 public:
  Daemon() {
    std::string folder = (std::filesystem::temp_directory_path() / "db-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) return;
    folder_ = folder;
    ::setenv("DISTRUN_DAEMON_SOCKET", socket().c_str(), 1);
    pid_ = start_program({kPrograms + "/distrund"});
    for (int i = 0; i < 500 && !answers(); ++i) ::usleep(10'000);
  }
  ~Daemon() {
    if (pid_ > 0) ::kill(pid_, SIGTERM);
    wait_for_program(pid_);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::string socket() const { return folder_ + "/daemon.sock"; }
  bool answers() const {
    try {
      return daemon::find_status(socket()).has_value();
    } catch (const Error&) {
      return false;
    }
  }

 private:
  std::string folder_;
  pid_t pid_ = 0;
};

std::vector<std::string> trivial_run() {
  return {kPrograms + "/distrun", "run", "--filter", "Bench.trivial", DISTRUN_BENCH_PLUGIN};
}

std::vector<std::string> submitted_run() {
  std::vector<std::string> arguments = trivial_run();
  arguments.emplace_back("--daemon");
  return arguments;
}

void time_runs(benchmark::State& state, const std::vector<std::string>& arguments) {
  for (auto _ : state) {
    if (run_program(arguments) != 0) return state.SkipWithError("the run did not pass");
  }
}

void one_run_plain(benchmark::State& state) { time_runs(state, trivial_run()); }
BENCHMARK(one_run_plain)->Unit(benchmark::kMillisecond)->UseRealTime();

void one_run_submitted(benchmark::State& state) {
  const Daemon daemon;
  time_runs(state, submitted_run());
}
BENCHMARK(one_run_submitted)->Unit(benchmark::kMillisecond)->UseRealTime();

// The time from the first start to the last end of N clients that read. A stalled client among them, if any, has
// submitted and reads nothing.
void many_clients(benchmark::State& state) {
  const Daemon daemon;
  for (auto _ : state) {
    std::vector<pid_t> clients;
    pid_t stalled = 0;
    for (int i = 0; i < state.range(0); ++i) {
      clients.push_back(start_program(submitted_run()));
      if (state.range(1) > 0 && i == state.range(0) / 2) {
        stalled = start_program(submitted_run());
        ::usleep(50'000);  // enough to have submitted
        ::kill(stalled, SIGSTOP);
      }
    }
    for (const pid_t client : clients) {
      if (wait_for_program(client) != 0) state.SkipWithError("a run did not pass");
    }
    if (stalled > 0) ::kill(stalled, SIGKILL);
    wait_for_program(stalled);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(many_clients)
    ->ArgNames({"clients", "stalled"})
    ->Args({100, 0})
    ->Args({99, 1})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1);

}  // namespace
}  // namespace distrun::bench
