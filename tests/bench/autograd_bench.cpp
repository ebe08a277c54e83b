// The cost of recording and of backward passes, on tensors so small that the arithmetic is negligible.
#include <benchmark/benchmark.h>

#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/grad_mode.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>

namespace {

using distrun::Tensor;

Tensor leaf() { return distrun::set_requires_grad(distrun::ones({3, 3})); }

void add_plain(benchmark::State& state) {
  const Tensor a = leaf(), b = leaf();
  const distrun::NoGradGuard unrecorded;
  for (auto _ : state) benchmark::DoNotOptimize(a + b);
}
BENCHMARK(add_plain);

void add_recorded(benchmark::State& state) {
  const Tensor a = leaf(), b = leaf();
  for (auto _ : state) benchmark::DoNotOptimize(a + b);
}
BENCHMARK(add_recorded);

// loss = sum(a + b), backward. Gradients are cleared, so that each pass begins in the same state.
void add_forward_and_backward(benchmark::State& state) {
  const Tensor a = leaf(), b = leaf();
  for (auto _ : state) {
    distrun::backward(distrun::sum(a + b));
    distrun::set_grad(a, {});
    distrun::set_grad(b, {});
  }
}
BENCHMARK(add_forward_and_backward);

void chained_adds(benchmark::State& state) {
  const Tensor a = leaf(), b = leaf();
  for (auto _ : state) {
    Tensor total = a;
    for (int64_t i = 0; i < state.range(0); ++i) total = total + b;
    distrun::backward(distrun::sum(total));
    distrun::set_grad(a, {});
    distrun::set_grad(b, {});
  }
  state.counters["per add"] = benchmark::Counter(
      static_cast<double>(state.range(0)), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(chained_adds)->Arg(100)->Arg(1'000'000)->Unit(benchmark::kMicrosecond);

void release_of_a_chain(benchmark::State& state) {
  const Tensor a = leaf();
  for (auto _ : state) {
    state.PauseTiming();
    Tensor total = a;
    for (int64_t i = 0; i < state.range(0); ++i) total = total + 1;
    state.ResumeTiming();
    total = Tensor();
  }
}
BENCHMARK(release_of_a_chain)->Arg(100'000)->Unit(benchmark::kMicrosecond);

void two_layers(benchmark::State& state) {
  const Tensor x = distrun::rand({32, 64});
  const Tensor w1 = distrun::set_requires_grad(distrun::rand({64, 64}));
  const Tensor w2 = distrun::set_requires_grad(distrun::rand({1, 64}));
  for (auto _ : state) {
    distrun::backward(distrun::mean(distrun::linear(distrun::relu(distrun::linear(x, w1)), w2)));
    distrun::set_grad(w1, {});
    distrun::set_grad(w2, {});
  }
}
BENCHMARK(two_layers);

void convolution(benchmark::State& state) {
  const Tensor x = distrun::set_requires_grad(distrun::rand({8, 16, 26, 26}));
  const Tensor w = distrun::set_requires_grad(distrun::rand({32, 16, 3, 3}));
  for (auto _ : state) {
    distrun::backward(distrun::sum(distrun::conv2d(x, w)));
    distrun::set_grad(x, {});
    distrun::set_grad(w, {});
  }
}
BENCHMARK(convolution)->Unit(benchmark::kMicrosecond);

// 512 bags of 8 rows each.
void bags_of_embeddings(benchmark::State& state, bool is_sparse) {
  const Tensor table = distrun::set_requires_grad(distrun::rand({10000, 64}));
  const Tensor indices = distrun::to(distrun::rand({4096}) * 10000, distrun::DType::I64);
  const Tensor offsets = distrun::select(distrun::view(distrun::arange(4096), {512, 8}), 1, 0);
  for (auto _ : state) {
    distrun::backward(
        distrun::sum(distrun::embedding_bag(table, {indices, offsets, distrun::BagMode::Sum, {}}, is_sparse)));
    distrun::set_grad(table, {});
  }
}
BENCHMARK_CAPTURE(bags_of_embeddings, dense, false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(bags_of_embeddings, sparse, true)->Unit(benchmark::kMicrosecond);

}  // namespace
