// The cost of operators at sizes typical of training, in addition to tensor_bench.cpp. Run one after the other on one
// thread, so that a slower operator shows here.
#include <benchmark/benchmark.h>

#include <vector>

#include <distrun/runtime/tensor/core/parallel.hpp>
#include <distrun/runtime/tensor/ops.hpp>

namespace distrun::bench {
namespace {

using tensor::Dims;
using tensor::Tensor;

// Calls `body` repeatedly. The tensors that it uses exist before.
template <class Body>
void repeat(benchmark::State& state, const Body& body) {
  const ThreadsGuard alone(1);
  for (auto _ : state) benchmark::DoNotOptimize(body());
}

void unary(benchmark::State& state, Tensor (*of)(const Tensor&)) {
  const Tensor a = tensor::rand({state.range(0)});
  repeat(state, [&] { return of(a); });
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
#define DISTRUN_UNARY(name) BENCHMARK_CAPTURE(unary, name, tensor::name)->Arg(1000)->Arg(65536)->Arg(1000000)
DISTRUN_UNARY(sin);
DISTRUN_UNARY(cos);
DISTRUN_UNARY(exp);
DISTRUN_UNARY(log);
DISTRUN_UNARY(tanh);
DISTRUN_UNARY(sigmoid);
DISTRUN_UNARY(sqrt);
DISTRUN_UNARY(abs);
DISTRUN_UNARY(relu);
BENCHMARK_CAPTURE(unary, sum, static_cast<Tensor (*)(const Tensor&)>(tensor::sum))->Arg(65536)->Arg(1000000);

void binary(benchmark::State& state, Tensor (*of)(const Tensor&, const Tensor&)) {
  const Tensor a = tensor::rand({state.range(0)}), b = tensor::rand({state.range(0)});
  repeat(state, [&] { return of(a, b); });
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
using OfTwo = Tensor (*)(const Tensor&, const Tensor&);
BENCHMARK_CAPTURE(binary, mul, OfTwo(tensor::mul))->Arg(1000)->Arg(65536)->Arg(1000000);
BENCHMARK_CAPTURE(binary, div, OfTwo(tensor::div))->Arg(1000)->Arg(65536)->Arg(1000000);
BENCHMARK_CAPTURE(binary, mse_loss, OfTwo(tensor::mse_loss))->Arg(1000)->Arg(65536)->Arg(1000000);

void random(benchmark::State& state, bool is_normal) {
  repeat(state, [&] { return is_normal ? tensor::randn({state.range(0)}) : tensor::rand({state.range(0)}); });
}
BENCHMARK_CAPTURE(random, uniform, false)->Arg(65536)->Arg(1000000);
BENCHMARK_CAPTURE(random, normal, true)->Arg(65536)->Arg(1000000);

// Matrices with these numbers of rows and columns.
void each_matrix(benchmark::internal::Benchmark* of) {
  for (const auto& sizes : {std::vector<std::int64_t>{32, 32}, {1000, 1000}, {10, 10000}, {10000, 10}, {4096, 64}}) {
    of->Args(sizes);
  }
}
Tensor matrix_of(const benchmark::State& state) { return tensor::rand({state.range(0), state.range(1)}); }

void sum_over(benchmark::State& state, std::int64_t dim) {
  const Tensor a = matrix_of(state);
  repeat(state, [&] { return tensor::sum(a, {dim}); });
}
BENCHMARK_CAPTURE(sum_over, rows, 0)->Apply(each_matrix);
BENCHMARK_CAPTURE(sum_over, columns, 1)->Apply(each_matrix);

void add_row(benchmark::State& state) {
  const Tensor a = matrix_of(state), row = tensor::rand({state.range(1)});
  repeat(state, [&] { return tensor::add(a, row); });
}
BENCHMARK(add_row)->Apply(each_matrix);

void over_rows(benchmark::State& state, Tensor (*of)(const Tensor&, std::int64_t)) {
  const Tensor a = matrix_of(state);
  repeat(state, [&] { return of(a, 1); });
}
BENCHMARK_CAPTURE(over_rows, softmax, tensor::softmax)->Apply(each_matrix);
BENCHMARK_CAPTURE(over_rows, log_softmax, tensor::log_softmax)->Apply(each_matrix);

void copy_turned(benchmark::State& state) {
  const Tensor a = tensor::t(matrix_of(state));
  repeat(state, [&] { return tensor::contiguous(a); });
}
BENCHMARK(copy_turned)->Args({1000, 1000})->Args({512, 4096})->Args({30000, 30});

void add_turned(benchmark::State& state) {
  const Tensor a = tensor::t(matrix_of(state)), b = tensor::rand(a.sizes());
  repeat(state, [&] { return tensor::add(a, b); });
}
BENCHMARK(add_turned)->Args({1000, 1000})->Args({512, 4096});

void cat(benchmark::State& state) {
  const Tensor a = tensor::rand({500, 500}), b = tensor::rand({500, 500});
  repeat(state, [&] { return tensor::cat({a, b}, state.range(0)); });
}
BENCHMARK(cat)->Arg(0)->Arg(1);

// 256 bags of 8 rows each.
void embedding_bag(benchmark::State& state) {
  const std::int64_t rows = 10000, width = state.range(0);
  std::vector<std::int64_t> indices, offsets;
  for (std::int64_t i = 0; i < 2048; ++i) indices.push_back(i * 7919 % rows);
  for (std::int64_t i = 0; i < 2048; i += 8) offsets.push_back(i);
  tensor::Bags bags;
  bags.indices = tensor::from_values<std::int64_t>(indices, {2048});
  bags.offsets = tensor::from_values<std::int64_t>(offsets, {256});
  const Tensor table = tensor::rand({rows, width});
  repeat(state, [&] { return tensor::embedding_bag(table, bags); });
}
BENCHMARK(embedding_bag)->Arg(16)->Arg(64)->Arg(256);

void index_select(benchmark::State& state) {
  const Tensor table = tensor::rand({10000, state.range(0)});
  const Tensor numbers = tensor::to(tensor::mul(tensor::rand({2048}), 10000), tensor::DType::I64);
  repeat(state, [&] { return tensor::index_select(table, 0, numbers); });
}
BENCHMARK(index_select)->Arg(16)->Arg(256);

// Batch, channels, size of the image, channels of the result, window, stride, padding.
void each_convolution(benchmark::internal::Benchmark* of) {
  for (const auto& sizes : {std::vector<std::int64_t>{64, 1, 28, 6, 5, 1, 2},
                            {64, 6, 14, 16, 5, 1, 0},
                            {16, 3, 32, 32, 3, 1, 1},
                            {2, 64, 56, 64, 3, 1, 1},
                            {2, 64, 56, 128, 3, 2, 1},
                            {4, 512, 7, 512, 3, 1, 1},
                            {4, 256, 14, 64, 1, 1, 0},
                            {200, 1, 28, 16, 3, 1, 0},  // both layers of plugins/cuda_rpc
                            {200, 16, 26, 32, 3, 1, 0}}) {
    of->Args(sizes);
  }
  of->Unit(benchmark::kMicrosecond);
}
struct Images {
  Tensor x, w, bias;
  tensor::Conv2dOptions options;

  explicit Images(const benchmark::State& state)
      : x(tensor::randn({state.range(0), state.range(1), state.range(2), state.range(2)})),
        w(tensor::randn({state.range(3), state.range(1), state.range(4), state.range(4)})),
        bias(tensor::randn({state.range(3)})),
        options{{state.range(5), state.range(5)}, {state.range(6), state.range(6)}} {}
};

void conv2d(benchmark::State& state) {
  const Images of(state);
  repeat(state, [&] { return tensor::conv2d(of.x, of.w, of.bias, of.options); });
}
BENCHMARK(conv2d)->Apply(each_convolution);

void conv2d_input_gradient(benchmark::State& state) {
  const Images of(state);
  const Tensor gradient = tensor::conv2d(of.x, of.w, of.bias, of.options);
  repeat(state, [&] { return tensor::conv2d_input_gradient(gradient, of.w, of.x.sizes(), of.options); });
}
BENCHMARK(conv2d_input_gradient)->Apply(each_convolution);

void conv2d_weight_gradient(benchmark::State& state) {
  const Images of(state);
  const Tensor gradient = tensor::conv2d(of.x, of.w, of.bias, of.options);
  repeat(state, [&] { return tensor::conv2d_weight_gradient(gradient, of.x, of.w.sizes(), of.options); });
}
BENCHMARK(conv2d_weight_gradient)->Apply(each_convolution);

void max_pool2d(benchmark::State& state) {
  const Tensor x = tensor::randn({16, 16, 32, 32});
  repeat(state, [&] { return tensor::max_pool2d(x, {{2, 2}, {2, 2}, {0, 0}}).values; });
}
BENCHMARK(max_pool2d);

void batch_norm(benchmark::State& state) {
  const Tensor x = tensor::randn({16, 16, 32, 32}), weight = tensor::rand({16}), bias = tensor::rand({16});
  repeat(state, [&] {
    const auto [mean, variance] = tensor::channel_moments(x);
    return tensor::normalize_channels(x, mean, tensor::inverse_deviation(variance, 1e-5), weight, bias);
  });
}
BENCHMARK(batch_norm);

void square_matmul(benchmark::State& state) {
  const std::int64_t size = state.range(0);
  const Tensor a = tensor::rand({size, size}), b = tensor::rand({size, size});
  repeat(state, [&] { return tensor::matmul(a, b); });
}
BENCHMARK(square_matmul)->Arg(16)->Arg(64)->Arg(128)->Arg(256);

// Batch, inputs, outputs.
void linear(benchmark::State& state) {
  const Tensor x = tensor::rand({state.range(0), state.range(1)});
  const Tensor weight = tensor::rand({state.range(2), state.range(1)}), bias = tensor::rand({state.range(2)});
  repeat(state, [&] { return tensor::linear(x, weight, bias); });
}
BENCHMARK(linear)->Args({1, 784, 128})->Args({8, 128, 10})->Args({32, 128, 64})->Args({64, 784, 128});

}  // namespace
}  // namespace distrun::bench
