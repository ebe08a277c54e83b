// Operators give the same bits with several threads as with one.
#include <catch2/catch.hpp>

#include <cstring>
#include <functional>
#include <map>

#include <distrun/runtime/tensor/core/parallel.hpp>
#include <distrun/runtime/tensor/ops.hpp>

namespace distrun::tensor {
namespace {

// Large enough to use several threads.
struct Large {
  explicit Large(TensorOptions options)
      : x(randn({701, 523}, options)),
        y(randn({701, 523}, options)),
        row(randn({523}, options)),
        left(randn({700, 301}, options)),
        right(randn({301, 503}, options)),
        batch(randn({9, 90, 91}, options)),
        images(randn({5, 3, 67, 65}, options)),
        weight(randn({7, 3, 3, 3}, options)),
        bias(randn({7}, options)),
        gradient(randn({5, 7, 67, 65}, options)),
        small(randn({9, 40, 9, 9}, options)),
        many(randn({72, 40, 3, 3}, options)),
        of_small(randn({9, 72, 9, 9}, options)),
        of_strides(randn({9, 72, 5, 5}, options)) {}
  const Tensor x, y, row, left, right, batch, images, weight, bias, gradient, small, many, of_small, of_strides;
};
using Make = std::function<Tensor(const Large& in)>;
const Conv2dOptions kAround{{1, 1}, {1, 1}};
const Pool2dOptions kPool{{3, 3}, {2, 2}, {1, 1}};

LayerNormalized normalized(const Large& in) { return plain::layer_norm(in.x, {523}, in.row, in.row, 1e-5); }
LayerNormGradients normal_gradients(const Large& in) {
  const LayerNormalized all = normalized(in);
  return plain::layer_norm_gradients(in.y, in.x, all.mean, all.inverse, {523}, in.row, {true, true, true});
}

bool is_same_bits(const Tensor& a, const Tensor& b) {
  const auto bytes = static_cast<std::size_t>(a.numel()) * size_of(a.dtype());
  return a.sizes() == b.sizes() && a.dtype() == b.dtype() && std::memcmp(a.data(), b.data(), bytes) == 0;
}

using Operators = std::map<std::string, Make>;

const Operators& elementwise_and_sums() {
  static const Operators all{
      {"add", [](const Large& in) { return plain::add(in.x, in.y); }},
      {"add of a row", [](const Large& in) { return plain::add(in.x, in.row, 0.5); }},
      {"exp", [](const Large& in) { return plain::exp(in.x); }},
      {"compare", [](const Large& in) { return plain::lt(in.x, in.y); }},
      {"copy of what is turned", [](const Large& in) { return plain::contiguous(plain::t(in.x)); }},
      {"cat of rows",
       [](const Large& in) {
         return plain::cat({in.x, plain::to(in.y, DType::F32)}, 1);
       }},
      {"copy to another dtype", [](const Large& in) { return plain::to(in.x, DType::I32); }},
      {"sum", [](const Large& in) { return plain::sum(in.x); }},
      {"sum of rows", [](const Large& in) { return plain::sum(in.x, {1}); }},
      {"sum of columns", [](const Large& in) { return plain::sum(in.x, {0}); }},
      {"sum of what is turned", [](const Large& in) { return plain::sum(plain::t(in.x)); }},
      {"mse_loss", [](const Large& in) { return plain::mse_loss(in.x, in.y); }},
  };
  return all;
}

const Operators& products_and_convolutions() {
  static const Operators all{
      {"matmul", [](const Large& in) { return plain::matmul(in.left, in.right); }},
      {"matmul of what is turned", [](const Large& in) { return plain::matmul(plain::t(in.x), in.y); }},
      {"bmm", [](const Large& in) { return plain::bmm(in.batch, plain::transpose(in.batch, 1, 2)); }},
      {"conv2d", [](const Large& in) { return plain::conv2d(in.images, in.weight, in.bias, kAround); }},
      {"conv2d with strides",
       [](const Large& in) {
         return plain::conv2d(in.images, in.weight, in.bias, {{2, 3}, {0, 1}});
       }},
      {"conv2d of the input's gradient",
       [](const Large& in) {
         return plain::conv2d_input_gradient(in.gradient, in.weight, in.images.sizes(), kAround);
       }},
      {"conv2d of the weight's gradient",
       [](const Large& in) {
         return plain::conv2d_weight_gradient(in.gradient, in.images, in.weight.sizes(), kAround);
       }},
      {"conv2d of small images", [](const Large& in) { return plain::conv2d(in.small, in.many, Tensor(), kAround); }},
      {"conv2d of the input's gradient with strides",
       [](const Large& in) {
         return plain::conv2d_input_gradient(in.of_strides, in.many, in.small.sizes(), {{2, 2}, {1, 1}});
       }},
      {"conv2d of the weight's gradient of small images",
       [](const Large& in) { return plain::conv2d_weight_gradient(in.of_small, in.small, in.many.sizes(), kAround); }},
  };
  return all;
}

const Operators& along_lines() {
  static const Operators all{
      {"softmax", [](const Large& in) { return plain::softmax(in.x, 1); }},
      {"softmax across", [](const Large& in) { return plain::softmax(in.gradient, 1); }},
      {"softmax's gradient", [](const Large& in) { return plain::softmax_gradient(in.x, in.y, 1); }},
      {"log_softmax", [](const Large& in) { return plain::log_softmax(in.x, 1); }},
      {"log_softmax across", [](const Large& in) { return plain::log_softmax(in.gradient, 1); }},
      {"log_softmax's gradient", [](const Large& in) { return plain::log_softmax_gradient(in.x, in.y, 1); }},
      {"max", [](const Large& in) { return plain::max_along(in.x, 1).values; }},
      {"argmax", [](const Large& in) { return plain::argmax(in.x, 1); }},
      {"argmin across", [](const Large& in) { return plain::argmin(in.gradient, 1); }},
      {"layer_norm", [](const Large& in) { return normalized(in).result; }},
      {"layer_norm's mean", [](const Large& in) { return normalized(in).mean; }},
      {"layer_norm of the input's gradient", [](const Large& in) { return normal_gradients(in).input; }},
      {"layer_norm of the weight's gradient", [](const Large& in) { return normal_gradients(in).weight; }},
      {"layer_norm of the bias's gradient", [](const Large& in) { return normal_gradients(in).bias; }},
      {"max_pool2d", [](const Large& in) { return plain::max_pool2d(in.gradient, kPool).values; }},
      {"max_pool2d's places", [](const Large& in) { return plain::max_pool2d(in.gradient, kPool).indices; }},
      {"max_pool2d's gradient",
       [](const Large& in) {
         const Pooled pooled = plain::max_pool2d(in.gradient, kPool);
         return plain::max_pool2d_gradient(pooled.values, pooled.indices, in.gradient.sizes());
       }},
  };
  return all;
}

Operators large_operators() {
  Operators all = elementwise_and_sums();
  for (const Operators* some : {&products_and_convolutions(), &along_lines()}) all.insert(some->begin(), some->end());
  return all;
}

}  // namespace

TEST_CASE("large operators give the same bits with any number of threads") {
  for (const DType dtype : {DType::F32, DType::F64}) {
    const Large in({dtype, device::kCpu});
    const auto made_on = [&in](const Make& make, int number) {
      const ThreadsGuard guard(number);
      return make(in);
    };
    for (const auto& [name, make] : large_operators()) {
      INFO(name << " of " << name_of(dtype));
      const Tensor alone = made_on(make, 1);
      for (const int number : {2, 3, 5}) {
        INFO(number << " threads");
        CHECK(is_same_bits(alone, made_on(make, number)));
      }
    }
  }
}

TEST_CASE("sums of the columns of long tables give the same bits with any number of threads") {
  for (const DType dtype : {DType::F32, DType::F64}) {
    for (const std::int64_t columns : {7, 40, 63, 64, 100}) {
      const Tensor table = randn({20'000, columns}, {dtype, device::kCpu});
      const auto sums_on = [&table](int number) {
        const ThreadsGuard guard(number);
        return plain::sum(table, {0});
      };
      const Tensor alone = sums_on(1);
      for (const int number : {2, 3, 5}) {
        INFO(columns << " columns of " << name_of(dtype) << " on " << number << " threads");
        for (int again = 0; again < 5; ++again) CHECK(is_same_bits(alone, sums_on(number)));
      }
    }
  }
}

}  // namespace distrun::tensor
