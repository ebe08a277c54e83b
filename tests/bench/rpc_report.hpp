#pragma once
// Shared by benchmarks of calls: ranks that serve each other, samples of one of them, and their report.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "rpc_world.hpp"

namespace distrun::bench {

// $DISTRUN_BENCH_BATCH is the limit, for runs that only check that everything works.
inline int batch_of(int batch) {
  const char* const most = std::getenv("DISTRUN_BENCH_BATCH");
  return most == nullptr ? batch : std::clamp(std::atoi(most), 1, batch);
}

// A rank without calls serves the others until they are done.
template <class Calls>
Figures run(int ranks, const std::string& transport, Calls calls) {
  return run_ranks(ranks, transport, [&](RpcRank& rank) {
    rank.init();
    calls(rank);
    rank.shutdown();
  });
}

template <class Call>
void time_calls(RpcRank& rank, int warm_up, int count, Call call) {
  for (int i = 0; i < warm_up; ++i) call();
  for (int i = 0; i < count; ++i) {
    const double begin = now_us();
    call();
    rank.add_sample(now_us() - begin);
  }
}

// Reports the samples as one iteration.
inline bool report(benchmark::State& state, const Figures& figures) {
  if (!figures.error.empty() || figures.samples.empty()) {
    state.SkipWithError(figures.error.empty() ? "nothing was measured" : figures.error.c_str());
    return false;
  }
  double sum = 0;
  for (const double each : figures.samples) sum += each;
  state.SetIterationTime(sum / 1e6);
  state.counters["us_min"] = *std::min_element(figures.samples.begin(), figures.samples.end());
  state.counters["us_median"] = median_of(figures.samples);
  state.counters["us_p99"] = percentile_of(figures.samples, 0.99);
  return true;
}

inline benchmark::internal::Benchmark* once(benchmark::internal::Benchmark* bench) {
  return bench->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(1);
}

}  // namespace distrun::bench
