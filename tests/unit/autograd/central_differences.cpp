#include "central_differences.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include <catch2/catch.hpp>

#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/device/order_report.hpp>
#include <distrun/runtime/tensor/ops.hpp>

#include "support/gpus.hpp"

namespace distrun::test {
namespace {

constexpr double kStep = 1e-5, kTolerance = 1e-6;

std::mutex reports_mutex;
std::vector<std::string> reports;

Tensor dense(const Tensor& tensor) { return tensor.is_sparse() ? tensor::to_dense(tensor) : tensor; }

std::vector<double> numbers_of(const Tensor& tensor) {
  return tensor::to_vector<double>(tensor::to(tensor::to(dense(tensor), device::kCpu), tensor::DType::F64));
}

double weighted(const TensorList& results, const TensorList& weights) {
  double total = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::vector<double> values = numbers_of(results[i]), factors = numbers_of(weights[i]);
    for (std::size_t k = 0; k < values.size(); ++k) total += values[k] * factors[k];
  }
  return total;
}

// Returns the inputs with one element moved, on the device.
TensorList moved(const TensorList& inputs, std::size_t which, std::size_t element, double step, Device device) {
  TensorList copies;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::vector<double> values = numbers_of(inputs[i]);
    if (i == which) values[element] += step;
    copies.push_back(tensor::to(tensor::from_values<double>(values, inputs[i].sizes()), device));
  }
  return copies;
}

// Returns the inputs as leaves on the device, with the same memory layout.
TensorList leaves_of(const TensorList& inputs, Device device) {
  TensorList leaves;
  for (const Tensor& input : inputs) {
    if (input.numel() == 0) {
      leaves.push_back(set_requires_grad(tensor::to(input, device, false)));
      continue;
    }
    const tensor::StridedImpl& from = input.strided();
    const auto elements = static_cast<std::int64_t>(from.storage()->bytes() / sizeof(double));
    const Tensor block = tensor::to(tensor::as_strided(input, {elements}, {1}, 0), device);
    leaves.push_back(set_requires_grad(tensor::as_strided(block, from.sizes, from.strides, from.offset)));
  }
  return leaves;
}

// Compares the gradients with differences of `f`, a function of the inputs. Missing gradients count as 0.
void check_found(const TensorList& found, const TensorList& inputs, Device device,
                 const std::function<double(const TensorList&)>& f) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    INFO("input " << i << " of sizes " << device::to_string(inputs[i].sizes()));
    std::vector<double> analytic(static_cast<std::size_t>(inputs[i].numel()));
    if (found[i].defined()) {
      REQUIRE(found[i].sizes() == inputs[i].sizes());
      REQUIRE(found[i].device() == device);
      analytic = numbers_of(found[i]);
    }
    for (std::size_t k = 0; k < analytic.size(); ++k) {
      const double up = f(moved(inputs, i, k, kStep, device)), down = f(moved(inputs, i, k, -kStep, device));
      const double numeric = (up - down) / (2 * kStep);
      INFO("element " << k << ": " << analytic[k] << " by formula, " << numeric << " by differences");
      REQUIRE(std::abs(analytic[k] - numeric) <= kTolerance * (1 + std::abs(numeric)));
    }
  }
}

}  // namespace

std::int64_t RandomTensors::size(std::int64_t least, std::int64_t most) {
  return least + static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(most - least + 1)));
}

Dims RandomTensors::sizes(std::size_t rank) {
  Dims sizes;
  for (std::size_t i = 0; i < rank; ++i) sizes.push_back(chance(0.05) ? 0 : size(1, 4));
  return sizes;
}

Dims RandomTensors::narrower(const Dims& sizes) {
  Dims result;
  bool is_left_out = chance(0.3);
  for (const std::int64_t whole : sizes) {
    is_left_out = is_left_out && chance(0.5);
    if (!is_left_out) result.push_back(chance(0.3) ? 1 : whole);
  }
  return result;
}

double RandomTensors::number() {
  const double magnitude = 0.2 + 1.5 * rng_.unit();
  return chance(0.5) ? magnitude : -magnitude;
}

Tensor RandomTensors::tensor(const Dims& sizes) {
  const double shape = rng_.unit();
  Dims block = sizes;
  if (!sizes.empty() && shape < 0.25) std::reverse(block.begin(), block.end());
  if (!sizes.empty() && shape >= 0.25 && shape < 0.5) block[0] += 2;
  std::vector<double> values;
  for (std::int64_t i = 0; i < device::count_of(block); ++i) values.push_back(number());
  Tensor tensor = tensor::from_values<double>(values, block);
  if (!sizes.empty() && shape < 0.25) {
    Dims order;
    for (std::int64_t i = tensor.dim(); i-- > 0;) order.push_back(i);
    return tensor::permute(tensor, order);
  }
  return block == sizes ? tensor : tensor::narrow(tensor, 0, 1, sizes[0]);
}

Device gpu() {
  static const bool is_chosen = [] {
    device::tell_order_reports_to([](const device::OrderReport& report) {
      const std::lock_guard lock(reports_mutex);
      reports.push_back(report.text);
    });
    testing::use_gpus();
    return true;
  }();
  return device::cuda(is_chosen ? 0 : -1);
}

std::vector<std::string> order_reports() {
  const std::lock_guard lock(reports_mutex);
  return std::exchange(reports, {});
}

void check_gradients(const Function& function, const TensorList& inputs, Device device, RandomTensors& random) {
  const TensorList leaves = leaves_of(inputs, device);
  const TensorList results = function(leaves);
  TensorList weights;
  for (const Tensor& result : results) {
    weights.push_back(tensor::to(random.tensor(result.sizes()), result.device()));
  }
  const TensorList found = gradients(results, leaves, weights, {}, true);
  check_found(found, inputs, device, [&](const TensorList& at) { return weighted(function(at), weights); });
}

void check_second_gradients(const Function& function, const TensorList& inputs, Device device, RandomTensors& random) {
  // The inputs, followed by the weights.
  TensorList all = inputs;
  for (const Tensor& result : function(leaves_of(inputs, device))) all.push_back(random.tensor(result.sizes()));
  const auto first = [&](const TensorList& leaves, bool create_graph) {
    const auto middle = leaves.begin() + std::ssize(inputs);
    return gradients(function({leaves.begin(), middle}), {leaves.begin(), middle}, {middle, leaves.end()},
                     {.create_graph = create_graph}, true);
  };
  const TensorList leaves = leaves_of(all, device);
  TensorList roots, weights_of_roots, weights;  // gradients that are constant are not roots
  for (const Tensor& each : first(leaves, true)) {
    if (!each.defined()) continue;
    weights.push_back(tensor::to(random.tensor(each.sizes()), each.device()));
    if (!requires_grad(each)) continue;
    roots.push_back(each);
    weights_of_roots.push_back(weights.back());
  }
  if (roots.empty()) return;
  const TensorList found = gradients(roots, leaves, weights_of_roots, {}, true);
  check_found(found, all, device, [&](const TensorList& at) {
    TensorList moved_leaves;
    for (const Tensor& each : at) moved_leaves.push_back(set_requires_grad(each));
    TensorList ones;
    for (const Tensor& each : first(moved_leaves, false)) {
      if (each.defined()) ones.push_back(each);
    }
    return weighted(ones, weights);
  });
}

}  // namespace distrun::test
