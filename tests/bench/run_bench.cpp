// Whole runs through the program: start, list, a thousand tests that do nothing, reports.
#include <benchmark/benchmark.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "harness.hpp"

namespace distrun::bench {
namespace {

int run_program(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", 1, 0);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = -1;
  if (error != 0 || ::waitpid(pid, &status, 0) != pid) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void run_of(benchmark::State& state, const std::string& filter, int tests,
            const std::vector<std::string>& options = {}) {
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
BENCHMARK_CAPTURE(run_of, one_test, std::string("Bench.trivial"), 1)
    ->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(run_of, a_thousand_tests, std::string("Thousand.*"), 1000)
    ->Unit(benchmark::kMillisecond)->UseRealTime();

using Options = std::vector<std::string>;
BENCHMARK_CAPTURE(run_of, a_thousand_by_exec, std::string("Thousand.*"), 1000, Options{"--isolation", "exec"})
    ->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1);
BENCHMARK_CAPTURE(run_of, a_thousand_in_a_pool, std::string("Thousand.*"), 1000, Options{"--isolation", "pool"})
    ->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(run_of, a_thousand_in_threads, std::string("Thousand.*"), 1000, Options{"--isolation", "threads"})
    ->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(run_of, a_thousand_with_two_jobs, std::string("Thousand.*"), 1000, Options{"--jobs", "2"})
    ->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace distrun::bench
