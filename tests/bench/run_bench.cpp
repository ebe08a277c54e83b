// Whole runs through the program: start, list, a thousand tests that do nothing, reports.
#include <benchmark/benchmark.h>

#include <string>

#include "harness.hpp"
#include "programs.hpp"

namespace distrun::bench {
namespace {

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
