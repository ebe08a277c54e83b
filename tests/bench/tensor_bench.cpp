// The cost of tensors: a small one, a large sum against the memory's speed, a product against Eigen alone.
#include <benchmark/benchmark.h>

#include <vector>

#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/ops.hpp>

#include "eigen_product.hpp"

namespace distrun::bench {
namespace {

using tensor::Tensor;

void make_small_tensor(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(tensor::empty({3, 3}));
}
BENCHMARK(make_small_tensor);

void make_view(benchmark::State& state) {
  const Tensor matrix = tensor::ones({3, 3});
  for (auto _ : state) benchmark::DoNotOptimize(tensor::t(matrix));
}
BENCHMARK(make_view);

void add_3x3(benchmark::State& state) {
  const Tensor a = tensor::ones({3, 3}), b = tensor::ones({3, 3});
  for (auto _ : state) benchmark::DoNotOptimize(tensor::add(a, b));
}
BENCHMARK(add_3x3);

void add_3x3_in_place(benchmark::State& state) {
  const Tensor a = tensor::ones({3, 3}), b = tensor::ones({3, 3});
  for (auto _ : state) tensor::add_(a, b, 0);
}
BENCHMARK(add_3x3_in_place);

void add_row_to_3x3(benchmark::State& state) {
  const Tensor a = tensor::ones({3, 3}), b = tensor::ones({3});
  for (auto _ : state) benchmark::DoNotOptimize(tensor::add(a, b));
}
BENCHMARK(add_row_to_3x3);

void mul_3x3_by_number(benchmark::State& state) {
  const Tensor a = tensor::ones({3, 3});
  for (auto _ : state) benchmark::DoNotOptimize(tensor::mul(a, 2));
}
BENCHMARK(mul_3x3_by_number);

void sum_3x3(benchmark::State& state) {
  const Tensor a = tensor::ones({3, 3});
  for (auto _ : state) benchmark::DoNotOptimize(tensor::sum(a));
}
BENCHMARK(sum_3x3);

void matmul_3x3(benchmark::State& state) {
  const Tensor a = tensor::ones({3, 3}), b = tensor::ones({3, 3});
  for (auto _ : state) benchmark::DoNotOptimize(tensor::matmul(a, b));
}
BENCHMARK(matmul_3x3);

void stack_of_3x3(benchmark::State& state) {
  const Tensor a = tensor::ones({3, 3});
  for (auto _ : state) benchmark::DoNotOptimize(tensor::stack({a, a, a}));
}
BENCHMARK(stack_of_3x3);

void equal_3x3(benchmark::State& state) {
  const Tensor a = tensor::ones({3, 3}), b = tensor::ones({3, 3});
  for (auto _ : state) benchmark::DoNotOptimize(tensor::equal(a, b));
}
BENCHMARK(equal_3x3);

// Functions of a million elements.
void function(benchmark::State& state, Tensor (*of)(const Tensor&)) {
  const Tensor a = tensor::rand({1000, 1000});
  for (auto _ : state) benchmark::DoNotOptimize(of(a));
  state.SetItemsProcessed(state.iterations() * a.numel());
}
BENCHMARK_CAPTURE(function, sigmoid, tensor::sigmoid)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(function, cos, tensor::cos)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(function, nonzero, tensor::nonzero)->Unit(benchmark::kMicrosecond);

// 20000 entries at 10000 positions, or at as many as possible.
void coalesce(benchmark::State& state) {
  const std::int64_t size = state.range(0);
  const Tensor indices =
      tensor::to(tensor::mul(tensor::rand({2, 20000}, {DType::F64}), static_cast<double>(size)), DType::I64);
  const Tensor entries = tensor::sparse_coo(indices, tensor::ones({20000}), {size, size});
  for (auto _ : state) benchmark::DoNotOptimize(tensor::coalesce(entries));
}
BENCHMARK(coalesce)->Arg(100)->Arg(100000)->Unit(benchmark::kMicrosecond);

// 64 MiB each: far more than the caches hold.
constexpr std::int64_t kLarge = std::int64_t{16} << 20;

void count_bytes(benchmark::State& state, int streams) {
  state.SetBytesProcessed(state.iterations() * kLarge * static_cast<std::int64_t>(sizeof(float)) * streams);
}

// The reference: the plainest loop that reads two arrays and writes a third, compiled for this machine.
void triad_64_mib(benchmark::State& state) {
  std::vector<float> a(kLarge, 1), b(kLarge, 2), c(kLarge, 0);
  for (auto _ : state) {
    triad(c.data(), a.data(), b.data(), kLarge);
    benchmark::ClobberMemory();
  }
  count_bytes(state, 3);
}
BENCHMARK(triad_64_mib)->Unit(benchmark::kMillisecond);

void add_64_mib(benchmark::State& state) {
  const Tensor a = tensor::ones({kLarge}), b = tensor::ones({kLarge});
  for (auto _ : state) benchmark::DoNotOptimize(tensor::add(a, b));
  count_bytes(state, 3);
}
BENCHMARK(add_64_mib)->Unit(benchmark::kMillisecond);

void add_64_mib_in_place(benchmark::State& state) {
  const Tensor a = tensor::ones({kLarge}), b = tensor::ones({kLarge});
  for (auto _ : state) tensor::add_(a, b, 0.5);
  count_bytes(state, 3);
}
BENCHMARK(add_64_mib_in_place)->Unit(benchmark::kMillisecond);

void copy_turned_64_mib(benchmark::State& state) {
  const Tensor a = tensor::t(tensor::ones({4096, 4096})), out = tensor::empty({4096, 4096});
  for (auto _ : state) tensor::copy_(out, a);
  count_bytes(state, 2);
}
BENCHMARK(copy_turned_64_mib)->Unit(benchmark::kMillisecond);

void sum_64_mib(benchmark::State& state) {
  const Tensor a = tensor::ones({kLarge});
  for (auto _ : state) benchmark::DoNotOptimize(tensor::sum(a));
  count_bytes(state, 1);
}
BENCHMARK(sum_64_mib)->Unit(benchmark::kMillisecond);

void sum_rows_64_mib(benchmark::State& state) {
  const Tensor a = tensor::ones({4096, 4096});
  for (auto _ : state) benchmark::DoNotOptimize(tensor::sum(a, {0}));
  count_bytes(state, 1);
}
BENCHMARK(sum_rows_64_mib)->Unit(benchmark::kMillisecond);

void count_products(benchmark::State& state, std::int64_t size) {
  state.counters["flops"] =
      benchmark::Counter(static_cast<double>(state.iterations() * 2 * size * size * size), benchmark::Counter::kIsRate);
}

void eigen_product(benchmark::State& state) {
  const std::int64_t size = state.range(0);
  const auto count = static_cast<std::size_t>(size * size);
  std::vector<float> a(count, 1), b(count, 2), c(count, 0);
  for (auto _ : state) {
    multiply_with_eigen(c.data(), a.data(), b.data(), size);
    benchmark::ClobberMemory();
  }
  count_products(state, size);
}
BENCHMARK(eigen_product)->Arg(64)->Arg(512)->Unit(benchmark::kMicrosecond);

void matmul(benchmark::State& state, tensor::InstructionSet set) {
  if (set > tensor::best_instruction_set()) return state.SkipWithError("this machine has not these instructions");
  tensor::use_instruction_set(set);
  const std::int64_t size = state.range(0);
  const Tensor a = tensor::ones({size, size}), b = tensor::ones({size, size});
  for (auto _ : state) benchmark::DoNotOptimize(tensor::matmul(a, b));
  count_products(state, size);
  tensor::use_instruction_set(tensor::best_instruction_set());
}
BENCHMARK_CAPTURE(matmul, avx512, tensor::InstructionSet::Avx512)->Arg(64)->Arg(512)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(matmul, avx2, tensor::InstructionSet::Avx2)->Arg(64)->Arg(512)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(matmul, plain, tensor::InstructionSet::Plain)->Arg(64)->Arg(512)->Unit(benchmark::kMicrosecond);

void convolution(benchmark::State& state) {
  const Tensor x = tensor::ones({8, 16, 26, 26}), w = tensor::ones({32, 16, 3, 3}), bias = tensor::ones({32});
  for (auto _ : state) benchmark::DoNotOptimize(tensor::conv2d(x, w, bias));
}
BENCHMARK(convolution)->Unit(benchmark::kMicrosecond);

void normal_numbers(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(tensor::randn({100000}));
  state.SetItemsProcessed(state.iterations() * 100000);
}
BENCHMARK(normal_numbers)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace distrun::bench
