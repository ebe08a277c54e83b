// The work after a hang: reading a probe's output, merging it, writing it.
#include <benchmark/benchmark.h>

#include <distrun/runner/evidence/stacks/tree_text.hpp>

#include "../unit/evidence/samples.hpp"

namespace distrun::bench {
namespace {

using evidence::Stacks;

Stacks stacks_of(const benchmark::State& state) {
  return evidence::samples::alike(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
}

void decode(benchmark::State& state) {
  const Stacks stacks = stacks_of(state);
  const wire::Bytes table = wire::encode(wire::StackTable{stacks.table});
  std::vector<wire::Bytes> processes;
  for (const evidence::Process& process : stacks.processes) {
    processes.push_back(wire::encode(
        wire::ProcessStacks{process.index, process.pid, process.command, process.threads, process.why_none}));
  }
  for (auto _ : state) {
    evidence::StacksBuilder builder;
    builder.add(wire::decode<wire::StackTable>(wire::view_of(table)));
    for (const wire::Bytes& process : processes) {
      builder.add(wire::decode<wire::ProcessStacks>(wire::view_of(process)));
    }
    benchmark::DoNotOptimize(builder.take());
  }
}

void merge(benchmark::State& state) {
  const Stacks stacks = stacks_of(state);
  for (auto _ : state) benchmark::DoNotOptimize(evidence::merge(stacks));
  state.counters["frames"] = static_cast<double>(stacks.table.size());
}

void text(benchmark::State& state) {
  const Stacks stacks = stacks_of(state);
  const evidence::StackTree tree = evidence::merge(stacks);
  for (auto _ : state) benchmark::DoNotOptimize(evidence::tree_text(stacks, tree));
}

BENCHMARK(decode)->Args({4, 16})->Args({64, 16})->Unit(benchmark::kMillisecond);
BENCHMARK(merge)->Args({4, 16})->Args({64, 16})->Unit(benchmark::kMillisecond);
BENCHMARK(text)->Args({4, 16})->Args({64, 16})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace distrun::bench
