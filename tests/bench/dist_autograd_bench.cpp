// Distributed autograd: a context with its calls, its backward pass and its release, measured on rank 0.
// $DISTRUN_BENCH_BATCH limits the samples, for runs that only check that everything works.
#include <benchmark/benchmark.h>

#include <barrier>
#include <thread>
#include <vector>

#include <distrun/dist_autograd.hpp>

#include "rpc_report.hpp"

namespace {

using namespace distrun;
using namespace distrun::dist_autograd;
using bench::batch_of;
using bench::Figures;
using bench::once;
using bench::report;
using bench::RpcRank;
using bench::run;
using bench::time_calls;

constexpr int kCalls = 100;

Tensor product(const Tensor& a, const Tensor& b) { return mul(a, b); }
DISTRUN_RPC(product)
// The beginner of the pass has to ask what the result depends on.
Tensor product_beyond(const std::string& next, const Tensor& a, const Tensor& b) {
  return rpc::rpc_sync<Tensor>(next, "mul", a, b);
}
DISTRUN_RPC(product_beyond)

Tensor leaf(const Dims& sizes) { return set_requires_grad(ones(sizes)); }

// Each sample is a context; `forward` computes its root.
template <class Forward>
void contexts(benchmark::State& state, int ranks, Mode mode, int count, Forward forward) {
  for (auto _ : state) {
    const Figures figures = run(ranks, "shm", [&](RpcRank& rank) {
      if (!rank.is_first()) return;
      const Tensor a = leaf({3, 3}), b = leaf({3, 3});
      time_calls(rank, batch_of(count / 10), batch_of(count), [&] {
        const ContextScope context;
        backward(context.id(), {forward(a, b)}, {.mode = mode});
      });
    });
    if (!report(state, figures)) return;
  }
}

Tensor one_call(const Tensor& a, const Tensor& b) { return sum(rpc::rpc_sync<Tensor>("worker1", "add", a, b)); }
Tensor chained_calls(const Tensor& a, const Tensor& b) {
  Tensor value = a;
  for (int i = 0; i < kCalls; ++i) value = rpc::rpc_sync<Tensor>("worker1", "add", value, b);
  return sum(value);
}
Tensor parallel_calls(const Tensor& a, const Tensor& b) {
  std::vector<Future<Tensor>> calls;
  for (int i = 0; i < kCalls; ++i) calls.push_back(rpc::rpc_async<Tensor>("worker1", "add", a, b));
  Tensor total = a;
  for (const auto& each : calls) total = add(total, each.wait());
  return sum(total);
}
Tensor nested_call(const Tensor& a, const Tensor& b) {
  return sum(rpc::rpc_sync<Tensor>("worker1", "product_beyond", "worker2", a, b));
}

// A sample is a round: each thread has a context with one call, and runs a pass.
void concurrent_passes(benchmark::State& state, int threads) {
  for (auto _ : state) {
    const Figures figures = run(2, "shm", [&](RpcRank& rank) {
      if (!rank.is_first()) return;
      const int rounds = batch_of(200);
      std::barrier begin(threads + 1), end(threads + 1);
      std::vector<std::thread> all;
      for (int i = 0; i < threads; ++i) {
        all.emplace_back([&] {
          const Tensor a = leaf({3, 3}), b = leaf({3, 3});
          for (int round = 0; round < 2 * rounds; ++round) {
            begin.arrive_and_wait();
            const ContextScope context;
            backward(context.id(), {one_call(a, b)});
            end.arrive_and_wait();
          }
        });
      }
      time_calls(rank, rounds, rounds, [&] {
        begin.arrive_and_wait();
        end.arrive_and_wait();
      });
      for (std::thread& each : all) each.join();
    });
    if (!report(state, figures)) return;
  }
}

// 784-256-10 with 64 examples; `is_split`: the second half of the network is on another rank.
void training_step(benchmark::State& state, bool is_split) {
  for (auto _ : state) {
    const Figures figures = run(2, "shm", [&](RpcRank& rank) {
      if (!rank.is_first()) return;
      const Tensor x = rand({64, 784}), y = rand({64, 10});
      const Tensor first = set_requires_grad(mul(rand({784, 256}), 0.01));
      const Tensor second = set_requires_grad(mul(rand({256, 10}), 0.01));
      time_calls(rank, batch_of(20), batch_of(200), [&] {
        const Tensor hidden = relu(mm(x, first));
        if (!is_split) return distrun::backward(mse_loss(mm(hidden, second), y));
        const ContextScope context;
        const Tensor out = rpc::rpc_sync<Tensor>("worker1", "mm", hidden, second);
        backward(context.id(), {mse_loss(out, y)});
      });
    });
    if (!report(state, figures)) return;
  }
}

[[maybe_unused]] const bool are_registered = [] {
  const auto add = [](const std::string& name, int ranks, int count, Tensor (*forward)(const Tensor&, const Tensor&)) {
    for (const Mode mode : {Mode::Smart, Mode::Fast}) {
      once(benchmark::RegisterBenchmark(
          (name + (mode == Mode::Fast ? "/fast" : "/smart")).c_str(),
          [ranks, mode, count, forward](benchmark::State& state) { contexts(state, ranks, mode, count, forward); }));
    }
  };
  add("one_call", 2, 5000, &one_call);
  add("chained_calls/100", 2, 100, &chained_calls);
  add("parallel_calls/100", 2, 100, &parallel_calls);
  add("nested_call", 3, 2000, &nested_call);
  once(benchmark::RegisterBenchmark("concurrent_passes/60", [](auto& state) { concurrent_passes(state, 60); }));
  once(benchmark::RegisterBenchmark("training_step/one_rank", [](auto& state) { training_step(state, false); }));
  once(benchmark::RegisterBenchmark("training_step/split", [](auto& state) { training_step(state, true); }));
  return true;
}();

}  // namespace
