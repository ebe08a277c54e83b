// References: created and fetched, shared and dropped, and their memory. Reports rank 0. $DISTRUN_BENCH_BATCH limits
// the samples, for runs that only check that everything works.
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <vector>

#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>
#include <distrun/runtime/rref/rref.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

#include "rpc_report.hpp"

namespace {

using namespace distrun;
using bench::batch_of;
using bench::Figures;
using bench::now_us;
using bench::once;
using bench::report;
using bench::RpcRank;
using bench::run;
using bench::time_calls;
using rref::RRef;

int look_at(const RRef<Tensor>& reference) { return reference.is_owner() ? 1 : 0; }
DISTRUN_RPC(look_at)

double resident_bytes() {
  ::malloc_trim(0);
  std::ifstream statm("/proc/self/statm");
  double all = 0, resident = 0;
  statm >> all >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

// Creates a reference there, fetches it, drops it.
void remote_and_fetch(benchmark::State& state, const std::string& transport) {
  for (auto _ : state) {
    const Figures figures = run(2, transport, [](RpcRank& rank) {
      if (!rank.is_first()) return;
      const Tensor a = tensor::ones({2, 2}), b = tensor::ones({2, 2});
      time_calls(rank, batch_of(500), batch_of(5000),
                 [&] { benchmark::DoNotOptimize(rref::remote<Tensor>("worker1", "add", a, b).to_here()); });
    });
    if (!report(state, figures)) return;
  }
}

// Fetches a value that exists already.
void fetch(benchmark::State& state, const std::string& transport) {
  for (auto _ : state) {
    const Figures figures = run(2, transport, [](RpcRank& rank) {
      if (!rank.is_first()) return;
      const auto sum = rref::remote<Tensor>("worker1", "add", tensor::ones({2, 2}), tensor::ones({2, 2}));
      time_calls(rank, batch_of(500), batch_of(5000), [&] { benchmark::DoNotOptimize(sum.to_here()); });
    });
    if (!report(state, figures)) return;
  }
}

// Shares it in a call, which returns when the function has read the value: with its owner, and with a third worker,
// which asks the owner first.
void share_and_drop(benchmark::State& state, const std::string& transport, const char* with) {
  for (auto _ : state) {
    const Figures figures = run(3, transport, [with](RpcRank& rank) {
      if (!rank.is_first()) return;
      const auto sum = rref::remote<Tensor>("worker1", "add", tensor::ones({2, 2}), tensor::ones({2, 2}));
      time_calls(rank, batch_of(300), batch_of(3000),
                 [&] { benchmark::DoNotOptimize(rpc::rpc_sync(with, look_at, sum)); });
    });
    if (!report(state, figures)) return;
    state.counters["shares_per_s"] = 1e6 / bench::median_of(figures.samples);
  }
}

// Keeps that many references alive: the memory of each at its holder and at its owner, with a value of 2x2 numbers.
void alive(benchmark::State& state, const std::string& transport) {
  const auto count = static_cast<std::size_t>(batch_of(static_cast<int>(state.range(0))));
  for (auto _ : state) {
    const Figures figures = run(2, transport, [count](RpcRank& rank) {
      rank.meet("begin");
      const double before = resident_bytes();
      std::vector<RRef<Tensor>> all;
      if (rank.is_first()) {
        const Tensor a = tensor::ones({2, 2});
        const double begin = now_us();
        for (std::size_t i = 0; i < count; ++i) {
          all.push_back(rref::remote<Tensor>("worker1", "add", a, 1));
          if (i % 256 == 255) all.back().to_here();
        }
        all.back().to_here();
        rank.add_sample((now_us() - begin) / static_cast<double>(count));
      }
      rank.meet("made");
      rank.set_value(0, (resident_bytes() - before) / static_cast<double>(count));
      rank.meet("seen");
      const double begin = now_us();
      all.clear();
      rank.set_value(1, (now_us() - begin) / static_cast<double>(count));
    });
    if (!report(state, figures)) return;
    state.counters["bytes_held"] = figures.value(0, 0);
    state.counters["bytes_owned"] = figures.value(1, 0);
    state.counters["us_drop"] = figures.value(0, 1);
  }
}

const bool registered = [] {
  for (const std::string transport : {"shm", "tcp", "inproc"}) {
    const auto add = [&](const std::string& name, const auto& run_it) {
      return once(benchmark::RegisterBenchmark((name + "/" + transport).c_str(), run_it));
    };
    add("remote_and_fetch", [transport](benchmark::State& state) { remote_and_fetch(state, transport); });
    add("fetch", [transport](benchmark::State& state) { fetch(state, transport); });
    add("share_with_owner", [transport](benchmark::State& state) { share_and_drop(state, transport, "worker1"); });
    add("share_with_third", [transport](benchmark::State& state) { share_and_drop(state, transport, "worker2"); });
    auto* const all = add("alive", [transport](benchmark::State& state) { alive(state, transport); })->Arg(10'000);
    if (transport != "tcp") all->Arg(1'000'000);  // tcp would take a minute
  }
  return true;
}();

}  // namespace
