// Programs that use MPI: by distrun, by mpirun, and as worlds of one. The program joins, adds numbers up and leaves.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "programs.hpp"

namespace distrun::bench {
namespace {

using Words = std::vector<std::string>;

void run_repeatedly(benchmark::State& state, Words command) {
  for (const char* const word : {DISTRUN_MPI_PROGRAM, "compute"}) command.emplace_back(word);
  for (auto _ : state) {
    if (run_program(command) != 0) return state.SkipWithError("the program did not pass");
  }
}

// Each world of one starts a daemon of Open MPI, which outlives it.
void by_distrun(benchmark::State& state, const std::string& use) {
  run_repeatedly(state, {DISTRUN_BIN_DIR "/distrun", "exec", "-w", std::to_string(state.range(0)), "--leaks", "off",
                         "--mpi", use, "--"});
}
BENCHMARK_CAPTURE(by_distrun, one_world, std::string("auto"))
    ->Arg(1)
    ->Arg(4)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(by_distrun, worlds_of_one, std::string("off"))
    ->Arg(1)
    ->Arg(4)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void by_mpirun(benchmark::State& state) {
  run_repeatedly(state,
                 {DISTRUN_MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", std::to_string(state.range(0))});
}
BENCHMARK(by_mpirun)->Arg(1)->Arg(4)->Unit(benchmark::kMillisecond)->UseRealTime();

// Measures the cost of a world for a program that does not use it: distrun-pmix starts, and ends.
void of_true(benchmark::State& state, const std::string& use) {
  for (auto _ : state) {
    if (run_program({DISTRUN_BIN_DIR "/distrun", "exec", "-w", "4", "--mpi", use, "--", "/bin/true"}) != 0) {
      return state.SkipWithError("the program did not run");
    }
  }
}
BENCHMARK_CAPTURE(of_true, with_server, std::string("on"))->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(of_true, without_server, std::string("off"))->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace distrun::bench
