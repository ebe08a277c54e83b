#pragma once
// Common parts of the tests of optimizers: a parameter and five gradients, with results known from numpy in float64.
// The tests' numpy programs begin with
//
//   start, shift = np.array([0.5, -1.25, 2.0]), np.array([0.0, 1.0, 2.0])
//   gradients = [np.cos(step + shift) * (1 + shift) for step in range(5)]
#include <catch2/catch.hpp>

#include <array>
#include <cmath>

#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/nn/optimizer.hpp>
#include <distrun/runtime/tensor/closeness.hpp>
#include <distrun/runtime/tensor/ops.hpp>

namespace distrun::testing {

inline Tensor start_of_optimizer(TensorOptions options = {tensor::DType::F64}) {
  return set_requires_grad(tensor::to(tensor::from_values<double>({0.5, -1.25, 2}), options));
}

inline Tensor gradient_of_step(int step, TensorOptions options = {tensor::DType::F64}) {
  const auto at = [step](double shift) { return std::cos(step + shift) * (1 + shift); };
  return tensor::to(tensor::from_values<double>({at(0), at(1), at(2)}), options);
}

// Checks the values after five steps, in float64 and, less exactly, in float32.
template <class Optimizer, class Options>
void check_five_steps(const Options& settings, const std::array<double, 3>& expected) {
  for (const tensor::DType dtype : {tensor::DType::F64, tensor::DType::F32}) {
    const Tensor parameter = start_of_optimizer({dtype});
    Optimizer optimizer({parameter}, settings);
    for (int step = 0; step < 5; ++step) optimizer.step({gradient_of_step(step, {dtype})});
    const Tensor wanted = tensor::from_values<double>({expected[0], expected[1], expected[2]});
    const double absolute = dtype == tensor::DType::F64 ? 1e-9 : 1e-6,
                 relative = dtype == tensor::DType::F64 ? 0 : 1e-6;
    CHECK(tensor::difference(tensor::to(detach(parameter), tensor::DType::F64), wanted,
                             {.tolerance = tensor::Tolerance{relative, absolute}})
              .value_or("") == "");
  }
}

// The same with the rate 0.02 from the third step on, and 0.5 for the fifth.
template <class Optimizer, class Options>
void check_changed_rates(const Options& settings, const std::array<double, 3>& expected) {
  const Tensor parameter = start_of_optimizer();
  Optimizer optimizer({parameter}, settings);
  for (int step = 0; step < 5; ++step) {
    if (step == 2) optimizer.set_learning_rate(0.02);
    if (step == 4) optimizer.set_learning_rate(0.5);
    optimizer.step({gradient_of_step(step)});
  }
  CHECK(optimizer.learning_rate() == 0.5);
  const Tensor wanted = tensor::from_values<double>({expected[0], expected[1], expected[2]});
  CHECK(tensor::difference(detach(parameter), wanted, {.tolerance = tensor::Tolerance{0, 1e-9}}).value_or("") == "");
}

inline Tensor table_parameter() { return set_requires_grad(tensor::ones({4, 2})); }

// Returns a gradient of rows 1 and 3 of such a table, the latter twice.
inline Tensor sparse_gradient(int step, tensor::DType dtype = tensor::DType::F32) {
  const Tensor rows = tensor::from_values<std::int64_t>({1, 3, 3}, {1, 3});
  const Tensor values = tensor::from_values<double>({1, 2, 3, -4, 5, 0.5}, {3, 2});
  return tensor::sparse_coo(rows, tensor::to(tensor::mul(values, 1 + step), dtype), {4, 2});
}

// Checks that three steps with sparse gradients give the same as with dense ones.
template <class Optimizer, class Options>
void check_sparse_like_dense(const Options& settings) {
  const Tensor by_sparse = table_parameter(), by_dense = table_parameter();
  Optimizer sparse({by_sparse}, settings), dense({by_dense}, settings);
  for (int step = 0; step < 3; ++step) {
    sparse.step({sparse_gradient(step)});
    dense.step({tensor::to_dense(sparse_gradient(step))});
  }
  CHECK(tensor::difference(detach(by_sparse), detach(by_dense)).value_or("") == "");
  CHECK_FALSE(tensor::equal(by_sparse, tensor::ones({4, 2})));
}

}  // namespace distrun::testing
