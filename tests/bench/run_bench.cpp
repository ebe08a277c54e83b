// Whole runs through the program: start, list, a thousand tests that do nothing, reports; and programs as ranks.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "harness.hpp"
#include "programs.hpp"

namespace distrun::bench {
namespace {

using Options = std::vector<std::string>;

void run_of(benchmark::State& state, const std::string& filter, int tests, const Options& options = {}) {
  ::setenv("DISTRUN_HISTORY", "off", 1);  // unless the options name a history
  std::vector<std::string> arguments{distrun_program(), "--filter", filter};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.push_back(bench_plugin());
  for (auto _ : state) {
    if (run_program(arguments) != 0) {
      state.SkipWithError("the run did not pass");
      return;
    }
  }
  state.SetItemsProcessed(state.iterations() * tests);
}

BENCHMARK_CAPTURE(run_of, one_test, std::string("Bench.trivial"), 1)->Unit(benchmark::kMillisecond)->UseRealTime();
// Uses a history file that persists, so that its growth over many runs is included.
BENCHMARK_CAPTURE(run_of, one_test_remembered, std::string("Bench.trivial"), 1,
                  Options{"--history", "bench-history.db"})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(run_of, a_thousand_tests, std::string("Thousand.*"), 1000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(run_of, a_thousand_by_exec, std::string("Thousand.*"), 1000, Options{"--isolation", "exec"})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1);
BENCHMARK_CAPTURE(run_of, a_thousand_in_a_pool, std::string("Thousand.*"), 1000, Options{"--isolation", "pool"})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(run_of, a_thousand_in_threads, std::string("Thousand.*"), 1000, Options{"--isolation", "threads"})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(run_of, a_thousand_with_two_jobs, std::string("Thousand.*"), 1000, Options{"--jobs", "2"})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// Four ranks of a program that does nothing, compared with a shell that starts the four and waits for them.
void exec_of_true(benchmark::State& state) {
  const std::string ranks = std::to_string(state.range(0));
  for (auto _ : state) {
    if (run_program({distrun_program(), "exec", "-w", ranks, "--", "/bin/true"}) != 0) {
      return state.SkipWithError("the program did not run");
    }
  }
}
BENCHMARK(exec_of_true)->Arg(4)->Unit(benchmark::kMillisecond)->UseRealTime();

void true_by_a_shell(benchmark::State& state) {
  const std::string loop = "i=0; while [ $i -lt $0 ]; do /bin/true & i=$((i + 1)); done; wait";
  for (auto _ : state) {
    if (run_program({"/bin/sh", "-c", loop, std::to_string(state.range(0))}) != 0) {
      return state.SkipWithError("the shell did not run them");
    }
  }
}
BENCHMARK(true_by_a_shell)->Arg(4)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace distrun::bench
