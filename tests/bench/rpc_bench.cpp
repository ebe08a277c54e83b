// Calls between ranks: latency, throughput, and tensors. The "idle" ones have two more ranks that take no part. Reports
// rank 0's calls. $DISTRUN_BENCH_BATCH limits the samples, for runs that only check that everything works.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <deque>

#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>
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

std::int64_t take(const Tensor& tensor) { return tensor.numel(); }
DISTRUN_RPC(take)

const char* const kTransports[] = {"shm", "uds", "tcp", "hosts", "inproc"};

Tensor small() { return tensor::ones({2, 2}); }

void sync_add(benchmark::State& state, const std::string& transport, int ranks) {
  for (auto _ : state) {
    const Figures figures = run(ranks, transport, [](RpcRank& rank) {
      if (!rank.is_first()) return;
      const Tensor a = small(), b = small();
      time_calls(rank, batch_of(500), batch_of(4500),
                 [&] { benchmark::DoNotOptimize(rpc::rpc_sync<Tensor>("worker1", "add", a, b)); });
    });
    if (!report(state, figures)) return;
  }
}

// Every rank calls the others in turn.
void all_call_all(benchmark::State& state, const std::string& transport, int ranks) {
  for (auto _ : state) {
    const Figures figures = run(ranks, transport, [](RpcRank& rank) {
      const Tensor a = small(), b = small();
      const double begin = now_us();
      const int count = batch_of(3000);
      for (int i = 0; i < count; ++i) {
        const int to = (rank.number() + 1 + i % (rank.count() - 1)) % rank.count();
        const double called = now_us();
        benchmark::DoNotOptimize(rpc::rpc_sync<Tensor>(to, "add", a, b));
        if (rank.is_first()) rank.add_sample(now_us() - called);
      }
      rank.set_value(0, count / (now_us() - begin) * 1e6);
    });
    if (!report(state, figures)) return;
    double rate = 0;
    for (int rank = 0; rank < ranks; ++rank) rate += figures.value(rank, 0);
    state.counters["calls_per_s"] = rate;
  }
}

// Keeps kOutstanding calls in flight; a sample is the time between two completions.
void many_outstanding(benchmark::State& state, const std::string& transport, int ranks) {
  constexpr std::size_t kOutstanding = 64;
  for (auto _ : state) {
    const Figures figures = run(ranks, transport, [](RpcRank& rank) {
      if (!rank.is_first()) return;
      const Tensor a = small(), b = small();
      std::deque<future::Future<Tensor>> calls;
      time_calls(rank, batch_of(500), batch_of(18'000), [&] {
        if (calls.size() == kOutstanding) calls.front().wait(), calls.pop_front();
        calls.push_back(rpc::rpc_async<Tensor>("worker1", "add", a, b));
      });
      for (; !calls.empty(); calls.pop_front()) calls.front().wait();
    });
    if (!report(state, figures)) return;
    double us = 0;
    for (const double each : figures.samples) us += each;
    state.counters["calls_per_s"] = static_cast<double>(figures.samples.size()) / us * 1e6;
  }
}

int count_for(std::int64_t bytes) { return batch_of(bytes < (1 << 16) ? 3000 : (bytes < (1 << 23) ? 600 : 18)); }

// Sends a tensor and gets a number back.
void tensor_there(benchmark::State& state, const std::string& transport) {
  const std::int64_t bytes = state.range(0);
  for (auto _ : state) {
    const Figures figures = run(2, transport, [bytes](RpcRank& rank) {
      if (!rank.is_first()) return;
      const Tensor tensor = tensor::ones({bytes / 4});
      time_calls(rank, 3, count_for(bytes), [&] { benchmark::DoNotOptimize(rpc::rpc_sync("worker1", take, tensor)); });
    });
    if (!report(state, figures)) return;
    state.counters["GB_per_s"] = static_cast<double>(bytes) / bench::median_of(figures.samples) / 1e3;
  }
}

// Measured like torch's rpc_sync(add) of a large tensor and a number: the bytes of both directions, and the sum itself.
void tensor_there_and_back(benchmark::State& state, const std::string& transport) {
  const std::int64_t bytes = state.range(0);
  for (auto _ : state) {
    const Figures figures = run(2, transport, [bytes](RpcRank& rank) {
      if (!rank.is_first()) return;
      const Tensor tensor = tensor::ones({bytes / 4}), one = tensor::ones({1});
      time_calls(rank, 1, count_for(bytes),
                 [&] { benchmark::DoNotOptimize(rpc::rpc_sync<Tensor>("worker1", "add", tensor, one)); });
    });
    if (!report(state, figures)) return;
    state.counters["GB_per_s"] = 2 * static_cast<double>(bytes) / bench::median_of(figures.samples) / 1e3;
  }
}

// Keeps several in flight, so that one is sent while another is received.
void tensors_outstanding(benchmark::State& state, const std::string& transport) {
  const std::int64_t bytes = state.range(0);
  const std::size_t outstanding = bytes < (1 << 16) ? 64 : (bytes < (1 << 23) ? 16 : 4);
  for (auto _ : state) {
    const Figures figures = run(2, transport, [bytes, outstanding](RpcRank& rank) {
      if (!rank.is_first()) return;
      const Tensor tensor = tensor::ones({bytes / 4});
      std::deque<future::Future<std::int64_t>> calls;
      time_calls(rank, static_cast<int>(outstanding), count_for(bytes), [&] {
        if (calls.size() == outstanding) calls.front().wait(), calls.pop_front();
        calls.push_back(rpc::rpc_async("worker1", take, tensor));
      });
      for (; !calls.empty(); calls.pop_front()) calls.front().wait();
    });
    if (!report(state, figures)) return;
    double us = 0;
    for (const double each : figures.samples) us += each;
    state.counters["GB_per_s"] =
        static_cast<double>(bytes * static_cast<std::int64_t>(figures.samples.size())) / us / 1e3;
  }
}

const bool registered = [] {
  for (const std::string transport : kTransports) {
    const auto add = [&](const std::string& name, const auto& run_it) {
      return once(benchmark::RegisterBenchmark((name + "/" + transport).c_str(), run_it));
    };
    add("sync_add", [transport](benchmark::State& state) { sync_add(state, transport, 2); });
    add("sync_add_idle", [transport](benchmark::State& state) { sync_add(state, transport, 4); });
    add("all_call_all", [transport](benchmark::State& state) { all_call_all(state, transport, 4); });
    add("64_outstanding", [transport](benchmark::State& state) { many_outstanding(state, transport, 2); });
    add("64_outstanding_idle", [transport](benchmark::State& state) { many_outstanding(state, transport, 4); });
    const std::int64_t small = 4 << 10, large = 1 << 20, huge = 64 << 20;
    add("tensor_there", [transport](benchmark::State& state) { tensor_there(state, transport); })
        ->Arg(small)
        ->Arg(large)
        ->Arg(huge);
    add("tensor_there_and_back", [transport](benchmark::State& state) { tensor_there_and_back(state, transport); })
        ->Arg(small)
        ->Arg(large)
        ->Arg(huge);
    add("tensors_outstanding", [transport](benchmark::State& state) { tensors_outstanding(state, transport); })
        ->Arg(small)
        ->Arg(large)
        ->Arg(huge);
  }
  return true;
}();

}  // namespace
