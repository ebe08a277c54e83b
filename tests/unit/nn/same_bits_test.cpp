// The same seed gives the same bits on GPUs as on the CPU: forward results, gradients, optimizer steps, and results
// after an error. Every program runs on the CPU alone, on one virtual GPU, and with its parts on two; each several
// times, for different schedules of threads and streams, and with different numbers of threads for its loops.
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/nn/adam.hpp>
#include <distrun/runtime/nn/batch_norm.hpp>
#include <distrun/runtime/nn/layers.hpp>
#include <distrun/runtime/nn/sgd.hpp>
#include <distrun/runtime/tensor/core/parallel.hpp>
#include <distrun/runtime/tensor/core/views.hpp>

#include "support/order_reports.hpp"

namespace distrun {
namespace {

constexpr int kRuns = 5;

// The devices of a program's parts: all on the CPU, or alternating between GPUs.
class Places {
 public:
  explicit Places(int gpus) : gpus_(gpus) {}
  Device operator[](int part) const { return gpus_ == 0 ? device::kCpu : device::cuda(part % gpus_); }
  TensorOptions f32(int part = 0) const { return {F32, (*this)[part]}; }
  TensorOptions f64(int part = 0) const { return {F64, (*this)[part]}; }

 private:
  const int gpus_;
};

using Program = std::function<TensorList(const Places&)>;

// Returns the program's results, followed by the generator's next numbers.
TensorList results_of(const Program& program, const Places& places) {
  manual_seed(42);
  TensorList results = program(places);
  results.push_back(rand({5}));
  for (Tensor& each : results) each = detach(contiguous(cpu(to_dense(each))));
  return results;
}

bool is_same(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) return false;
  const auto bytes = static_cast<std::size_t>(a.numel()) * tensor::size_of(a.dtype());
  return bytes == 0 || std::memcmp(a.data(), b.data(), bytes) == 0;
}

void check(const char* name, const Program& program) {
  const testing::OrderReports reports;
  const TensorList expected = results_of(program, Places(0));
  for (const int gpus : {0, 1, 2}) {
    for (int run = 0; run < kRuns; ++run) {
      const ThreadsGuard threads(1 + run % 3);
      const TensorList got = results_of(program, Places(gpus));
      REQUIRE(got.size() == expected.size());
      for (std::size_t i = 0; i < got.size(); ++i) {
        INFO(name << " on " << gpus << " GPUs, run " << run << ", result " << i);
        CHECK(is_same(got[i], expected[i]));
      }
    }
  }
  CHECK(reports.text() == "");
}

// The step must fail; its earlier effects stay.
void fails(const std::function<void()>& step) { CHECK_THROWS_AS(step(), Error); }

Tensor leaf(const Tensor& tensor) { return set_requires_grad(tensor); }

// Returns numbers of very different magnitudes, so that the order of summation shows.
Tensor uneven(const Dims& sizes, TensorOptions options) { return randn(sizes, options) / randn(sizes, options); }

TensorList random_numbers(const Places& on) {
  TensorList made;
  for (const std::int64_t size : {0, 1, 3, 4, 5, 1023, 1024, 1025, 4099}) {
    made.push_back(rand({size}, on.f32()));
    made.push_back(randn({size}, on.f32(1)));
    fails([&] { rand({size}, {I64, on[0]}); });
    fails([&] { randn({size, -1}, on.f32()); });
    made.push_back(rand({2, size}, on.f64(1)));
    made.push_back(randn({size, 3}, on.f64()));
  }
  return made;
}

TensorList sums(const Places& on) {
  TensorList made;
  for (const TensorOptions options : {on.f32(), on.f64()}) {
    for (const std::int64_t size : {1, 7, 64, 1000, 4097}) {
      const Tensor row = uneven({1, size}, options), block = uneven({3, size, 5}, options);
      for (const Tensor& each : {row, t(row), block, permute(block, {2, 0, 1}), narrow(block, 2, 1, 3),
                                 select(block, 2, 3), unsqueeze(t(row), 0), expand(t(row), {size, 4})}) {
        made.push_back(sum(each));
        made.push_back(mean(each));
        made.push_back(sum(each, {0}));
        made.push_back(sum(each, {-1}, true));
      }
      fails([&] { sum(block, {0, 0}); });
    }
    const Tensor large = uneven({700, 301}, options), other = uneven({700, 301}, options);
    for (const Tensor& each : {sum(large), sum(t(large)), sum(large, {0}), sum(large, {1}), mse_loss(large, other)}) {
      made.push_back(each);
    }
  }
  return made;
}

TensorList products(const Places& on) {
  TensorList made;
  for (const TensorOptions options : {on.f32(), on.f64()}) {
    for (const std::int64_t size : {1, 5, 16, 33, 130, 300}) {
      const Tensor a = leaf(randn({size, size + 3}, options)), b = leaf(randn({size + 3, size + 1}, options));
      const Tensor v = leaf(randn({size + 4}, options));
      const Tensor shifted = narrow(v, 0, 1, size + 3);  // at an address not aligned for vector instructions
      backward(sum(matmul(a, b)) + sum(matmul(a, shifted)) + sum(matmul(t(b), narrow(v, 0, 0, size + 3))));
      fails([&] { matmul(a, v); });
      const Tensor batch = randn({3, size, 9}, options);
      for (const Tensor& each : {matmul(a, b), matmul(a, shifted), matmul(t(b), t(a)), matmul(shifted, shifted),
                                 matmul(narrow(a, 0, size / 2, size - size / 2), b), grad(a), grad(b), grad(v),
                                 bmm(batch, transpose(batch, 1, 2)), multi_dot({a, b, t(b)})}) {
        made.push_back(each);
      }
    }
  }
  return made;
}

TensorList images(const Places& on) {
  const Tensor input = leaf(randn({2, 3, 13, 11}, on.f32()));
  const Tensor weight = leaf(randn({4, 3, 3, 3}, on.f32())), bias = leaf(randn({4}, on.f32()));
  fails([&] { conv2d(input, narrow(weight, 1, 0, 2), bias); });
  const Tensor made = relu(conv2d(input, weight, bias, {.stride = {2, 1}, .padding = {1, 2}}));
  const Tensor pooled = max_pool2d(made, {.window = {2, 2}});
  backward(sum(pooled * pooled));
  return {made, pooled, grad(input), grad(weight), grad(bias)};
}

TensorList normalisations(const Places& on) {
  TensorList made;
  for (const TensorOptions options : {on.f32(), on.f64()}) {
    const Tensor x = leaf(uneven({37, 19}, options)), weight = leaf(randn({19}, options)),
                 bias = leaf(randn({19}, options));
    const Tensor target = to(to(tensor::mul(rand({37}), 19), I64), on[0]);
    fails([&] { softmax(x, 2); });
    fails([&] { batch_norm(x, narrow(weight, 0, 0, 3), bias); });
    fails([&] { cross_entropy(x, narrow(target, 0, 0, 3)); });
    const Tensor loss = cross_entropy(x, target) + sum(softmax(t(x), 0) * 2) + sum(log_softmax(x, -1)) +
                        sum(batch_norm(x, weight, bias) * x) + sum(layer_norm(x, {19}, weight, bias) * x);
    backward(loss);
    for (const Tensor& each : {loss, grad(x), grad(weight), grad(bias)}) made.push_back(each);
  }
  return made;
}

TensorList elements(const Places& on) {
  const Tensor x = leaf(uneven({41, 7}, on.f32())), y = leaf(uneven({7}, on.f32(1)));
  const Tensor moved = to(y, on[0]);
  const Tensor z = sigmoid(x) * sin(moved) - cos(x) / (moved * moved + 1) + relu(-x) + clamp_min(x, 0.25);
  backward(sum(z));
  return {z, grad(x), grad(y), z < moved, x != 0.5, to(z, I64)};
}

TensorList dropped(const Places& on) {
  TensorList made;
  for (const std::int64_t size : {1, 5, 1025, 3000}) {
    const Tensor x = leaf(randn({size, 3}, on.f32()));
    fails([&] { dropout(x, 1.5); });
    const Tensor kept = dropout(x, 0.3);
    fails([&] { backward(kept); });
    backward(sum(dropout(kept * x, 0.5)));
    for (const Tensor& each : {kept, dropout(x, 0.2, false), grad(x)}) made.push_back(each);
  }
  return made;
}

TensorList powers(const Places& on) {
  TensorList made;
  for (const TensorOptions options : {on.f32(), on.f64()}) {
    const Tensor x = leaf(rand({37, 11}, options) + 0.1), y = leaf(randn({11}, options));
    const Tensor z =
        exp(y) * log(x) + pow(x, y) + pow(x, 2.5) + tanh(y) * sqrt(x) + rsqrt(x) + abs(y) + clamp(y, -1, 1);
    backward(sum(z + where(x > 0.5, x, y) + maximum(x, y) + minimum(x, y)));
    for (const Tensor& each : {z, grad(x), grad(y)}) made.push_back(each);
  }
  return made;
}

TensorList statistics(const Places& on) {
  TensorList made;
  for (const TensorOptions options : {on.f32(), on.f64()}) {
    for (const Dims& sizes : {Dims{5, 7}, Dims{1, 300}, Dims{300, 1}, Dims{41, 1025}}) {
      const Tensor x = leaf(uneven(sizes, options));
      fails([&] { cumsum(x, 2); });
      const Tensor total = var(x) + standard_deviation(x) + norm(x) + norm(x, 1) + mean(x) + amax(x) +
                           sum(var(x, {0}, false)) + sum(norm(t(x), 2, {1})) + sum(cumsum(x, 0) * cumsum(x, 1)) +
                           sum(max(x, 1).values * amin(x, 1)) + sum(prod(narrow(x, 1, 0, 1), 1));
      backward(total);
      for (const Tensor& each : {total, grad(x), argmax(x, 0), mean(t(x), 0), var(t(x), 1)}) made.push_back(each);
    }
  }
  return made;
}

TensorList picked(const Places& on) {
  const Tensor x = leaf(uneven({6, 50}, on.f32())), source = leaf(uneven({6, 90}, on.f32()));
  const Tensor places = to(to(tensor::mul(rand({6, 90}), 50), I64), on[0]);
  const Tensor columns = select(places, 0, 0), wrong = places + 1;  // some are one too large
  const Tensor mask = x > 0;
  fails([&] { index_select(x, 1, full({2}, 50, {I64, on[0]})); });
  fails([&] { gather(x, 1, wrong - wrong + 50); });
  fails([&] { scatter_add(x, 1, wrong - wrong - 1, source); });
  const Tensor sums = scatter_add(x, 1, places, source), more = index_add(x, 1, columns, source, 0.5);
  const Tensor taken = gather(x, 1, places), chosen = index_select(x, 1, columns), masked = masked_fill(x, mask, 3);
  backward(sum(sums * more) + sum(taken * taken) + sum(chosen * source) + sum(masked) + sum(masked_select(x, mask)));
  return {sums, more, taken, chosen, masked, grad(x), grad(source)};
}

// Combines tensors of the CPU without dimensions with the others.
TensorList numbers_beside(const Places& on) {
  TensorList made;
  for (const DType of_number : {F32, F64}) {
    const Tensor x = leaf(randn({33}, on.f32())), none = randn({}, on.f32());
    const Tensor number = leaf(randn({}, {of_number, device::kCpu}));
    backward(sum(x * number + number / x - number));
    for (const Tensor& each : {none + number, number - none, none / number, grad(x), grad(number)})
      made.push_back(each);
    const Tensor changed = clone(none), changed_too = clone(none);
    tensor::add_(changed, detach(number));
    tensor::mul_(changed_too, detach(number));
    const Tensor third = full({}, 1.0 / 3, {of_number, device::kCpu}), thirds = full({}, 1.0 / 3, on.f32());
    for (const Tensor& each : {changed, changed_too, eq(thirds, third), lt(thirds, third), ge(third, thirds),
                               maximum(thirds, third), maximum(third, thirds), pow(none * none, third)}) {
      made.push_back(each);
    }
  }
  return made;
}

TensorList bags_of_rows(const Places& on) {
  TensorList made;
  const Tensor offsets = tensor::from_values<std::int64_t>({0, 3, 3, 8}, {4}, on[0]);
  const Tensor indices = tensor::from_values<std::int64_t>({4, 0, 4, 2, 1, 1, 4, 0, 3, 4}, {10}, on[0]);
  const Tensor wrong = tensor::from_values<std::int64_t>({4, 0, 4, 2, 1, 1, 9, 0, 3, 4}, {10}, on[0]);
  for (const bool is_sparse : {false, true}) {
    const Tensor table = leaf(uneven({5, 9}, on.f32())), factors = leaf(randn({10}, on.f32()));
    fails([&] { embedding_bag(table, {wrong, offsets, tensor::BagMode::Sum, factors}, is_sparse); });
    const Tensor rows = embedding_bag(table, {indices, offsets, tensor::BagMode::Mean, {}}, is_sparse);
    const Tensor weighted = embedding_bag(table, {indices, offsets, tensor::BagMode::Sum, factors}, is_sparse);
    backward(sum(rows * rows * weighted));
    for (const Tensor& each : {rows, weighted, grad(table), grad(factors)}) made.push_back(each);
  }
  return made;
}

TensorList pieces(const Places& on) {
  const Tensor a = leaf(uneven({6, 8}, on.f32())), b = leaf(uneven({2, 8}, on.f32()));
  const Tensor joined = cat({a, b, a, narrow(a, 0, 1, 2)});
  Tensor total = sum(joined * joined);
  for (const Tensor& each : split(joined, 5)) total = total + sum(stack({each, each * 2}, 1) * 3);
  const Tensor changed = a * 1;
  mul_(narrow(changed, 1, 2, 3), 0.1);
  add_(select(t(changed), 0, 1), select(b, 1, 0).numel() == 2 ? 0.3 : 0.1);
  fails([&] { cat({a, narrow(b, 1, 0, 3)}); });
  backward(total + sum(changed * changed));
  return {joined, changed, grad(a), grad(b), nonzero(a > 0)};
}

// Gives graphs the same shape on all devices: to() returns a tensor itself if it is already there.
Tensor moved(const Tensor& tensor, Device to_device) { return to(tensor * 1, to_device); }

// One leaf, and intermediate tensors, with many uses on all devices: their gradients are sums of many.
TensorList gradients_of_many_uses(const Places& on) {
  const Tensor x = leaf(uneven({65}, on.f32()));
  TensorList copies;
  for (int i = 0; i < 4; ++i) copies.push_back(moved(x, on[i]));
  Tensor total = sum(x);
  for (int i = 0; i < 24; ++i) {
    const Tensor here = i % 3 == 0 ? moved(x, on[i]) : copies[static_cast<std::size_t>(i % 4)];
    const Tensor part = here * (i % 2 == 0 ? 1e4 / (i + 1) : 1.0 / (3 * i));
    total = total + to(sum(part * moved(sigmoid(x * i), part.device())), on[0]);
  }
  backward(total, {}, {.retain_graph = true});
  const Tensor first = clone(grad(x));
  backward(total);
  return {total, first, grad(x), copies[1]};
}

// A pass that fails in the middle: gradients already in the leaves stay, and the next pass adds to them.
TensorList gradients_after_an_error(const Places& on) {
  const Tensor x = leaf(uneven({33}, on.f32())), y = leaf(uneven({33}, on.f32())), z = leaf(uneven({33}, on.f32()));
  const Tensor middle = y * x;
  bool throws = true;
  register_hook(middle, [&throws](const Tensor&) -> Tensor {
    if (throws) throw Error(ErrorKind::Failed, "a hook that fails");
    return {};
  });
  const Tensor total = sum(middle * y) + sum(z * x) + sum(randn({33}, on.f32()) * z);
  fails([&] { backward(total, {}, {.retain_graph = true}); });
  TensorList made;
  const auto add_gradients = [&made](const TensorList& leaves) {
    for (const Tensor& each : leaves) made.push_back(grad(each).defined() ? clone(grad(each)) : tensor::zeros({1}));
  };
  add_gradients({x, y, z});
  throws = false;
  backward(total);
  add_gradients({x, y, z});
  fails([&] { backward(total); });
  add_gradients({x, y, z});
  return made;
}

std::shared_ptr<nn::Sequential> network() {
  return std::make_shared<nn::Sequential>(std::vector<std::shared_ptr<nn::Module>>{
      std::make_shared<nn::Linear>(6, 40), std::make_shared<nn::BatchNorm>(40), std::make_shared<nn::ReLU>(),
      std::make_shared<nn::Linear>(40, 40), std::make_shared<nn::ReLU>(), std::make_shared<nn::Linear>(40, 3)});
}

// Training steps, some of which fail: in the loss, and in the pass. The first part is on one device, the second on
// another.
TensorList training(const Places& on, const std::function<std::unique_ptr<nn::Optimizer>(TensorList)>& optimiser_of) {
  const auto first = network();
  const auto second = std::make_shared<nn::Linear>(3, 2);
  first->to(on[0]);
  second->to(on[1]);
  TensorList parameters = first->parameters();
  for (const Tensor& each : second->parameters()) parameters.push_back(each);
  const auto optimiser = optimiser_of(parameters);
  bool throws = false;
  TensorList made;
  for (int step = 0; step < 9; ++step) {
    const Tensor x = randn({32, 6}, on.f32(0)), target = randn({32, 2}, on.f32(1));
    const auto take_step = [&] {
      optimiser->zero_grad();
      const Tensor middle = first->forward(x);
      if (throws) register_hook(middle, [](const Tensor&) -> Tensor { throw Error(ErrorKind::Failed, "a hook"); });
      const Tensor loss = mse_loss(second->forward(to(middle, on[1])), step == 4 ? narrow(target, 0, 0, 3) : target);
      backward(loss);
      optimiser->step();
      made.push_back(detach(loss));
    };
    throws = step == 2 || step == 5;
    if (throws || step == 4) {
      fails(take_step);
    } else {
      take_step();
    }
  }
  for (const Tensor& each : first->buffers()) made.push_back(each);
  for (const Tensor& each : parameters) made.push_back(detach(each));
  return made;
}

TensorList training_by_sgd(const Places& on) {
  return training(on, [](TensorList parameters) {
    return std::make_unique<nn::SGD>(std::move(parameters), nn::SGDOptions{.learning_rate = 0.05, .momentum = 0.9});
  });
}
TensorList training_by_adam(const Places& on) {
  return training(on, [](TensorList parameters) {
    return std::make_unique<nn::Adam>(std::move(parameters), nn::AdamOptions{.learning_rate = 0.01});
  });
}

}  // namespace

TEST_CASE("the same seed gives the same bits on GPUs as on the CPU, gradients too, and after errors") {
  const std::vector<std::pair<const char*, Program>> programs = {
      {"random numbers", random_numbers},
      {"sums", sums},
      {"products", products},
      {"images", images},
      {"normalisations", normalisations},
      {"elements", elements},
      {"dropout", dropped},
      {"powers", powers},
      {"statistics", statistics},
      {"picked elements", picked},
      {"numbers beside", numbers_beside},
      {"bags of rows", bags_of_rows},
      {"pieces", pieces},
      {"gradients of many uses", gradients_of_many_uses},
      {"gradients after an error", gradients_after_an_error},
      {"training by SGD", training_by_sgd},
      {"training by Adam", training_by_adam},
  };
  for (const auto& [name, program] : programs) check(name, program);
}

}  // namespace distrun
