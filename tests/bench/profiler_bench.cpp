// What profiles cost: those who have none, and those who have one.
#include <benchmark/benchmark.h>

#include <distrun/runtime/profiler/profile.hpp>
#include <distrun/runtime/profiler/span.hpp>

namespace distrun::bench {
namespace {

void span_without_a_profile(benchmark::State& state) {
  for (auto _ : state) {
    const profiler::Span span("forward");
    benchmark::DoNotOptimize(span.is_recorded());
  }
}

void span_in_a_profile(benchmark::State& state) {
  const profiler::Profile profile;
  for (auto _ : state) const profiler::Span span("forward");
}

BENCHMARK(span_without_a_profile);
BENCHMARK(span_in_a_profile);

}  // namespace
}  // namespace distrun::bench
