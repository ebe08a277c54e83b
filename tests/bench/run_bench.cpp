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

void run_of(benchmark::State& state, const std::string& filter, int tests, const std::string& history = "off") {
  for (auto _ : state) {
    if (run_program({distrun_program(), "--history", history, "--filter", filter, bench_plugin()}) != 0) {
      state.SkipWithError("the run did not pass");
      return;
    }
  }
  state.SetItemsProcessed(state.iterations() * tests);
}
BENCHMARK_CAPTURE(run_of, one_test, std::string("Bench.trivial"), 1)
    ->Unit(benchmark::kMillisecond)->UseRealTime();
// In a file that is there afterwards: what many runs have to do with each other is part of it.
BENCHMARK_CAPTURE(run_of, one_test_remembered, std::string("Bench.trivial"), 1, std::string("bench-history.db"))
    ->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(run_of, a_thousand_tests, std::string("Thousand.*"), 1000)
    ->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace distrun::bench
