#include <distrun/runtime/autograd/operators/statistics.hpp>

#include <algorithm>

#include <distrun/runtime/autograd/operators/formula_operators.hpp>
#include <distrun/runtime/autograd/operators/joining.hpp>
#include <distrun/runtime/autograd/scope.hpp>
#include <distrun/runtime/tensor/core/reshape.hpp>
#include <distrun/runtime/tensor/operators/choices.hpp>
#include <distrun/runtime/tensor/operators/cumulative.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>
#include <distrun/runtime/tensor/operators/reduced_lines.hpp>
#include <distrun/runtime/tensor/operators/statistics.hpp>

namespace distrun {
namespace {

using namespace autograd;

// Returns the sizes of a result that keeps its dimensions.
Dims kept_sizes(const Tensor& tensor, const Dims& dims) {
  return tensor::sizes_without(tensor.sizes(), tensor::reduced_dims("sum", tensor, dims), true);
}

// Computes the gradient of the variance; `gradient` has the sizes of a result that keeps its dimensions.
Tensor var_gradient(const Tensor& gradient, const Tensor& x, const Dims& dims, bool unbiased) {
  const std::int64_t lines = std::max<std::int64_t>(gradient.numel(), 1);
  const double freedom = std::max<double>(static_cast<double>(x.numel() / lines) - (unbiased ? 1 : 0), 0);
  return formula::mul(formula::sub(x, formula::mean(x, dims, true)), formula::mul(gradient, 2 / freedom));
}

struct VarBackward {
  static constexpr const char* kName = "VarBackward0";
  SavedTensor input;
  Dims dims;
  bool unbiased;

  Gradients apply(const Node& node, Gradients gradients) {
    const Tensor x = input.unpack(node);
    gradients[0] = var_gradient(formula::reshape(gradients[0], kept_sizes(x, dims)), x, dims, unbiased);
    return gradients;
  }
  void release() noexcept { input.release(); }
};

// The gradient of the variance divided by twice the root; zero where that is 0.
struct DeviationBackward {
  static constexpr const char* kName = "StdBackward0";
  SavedTensor input, result;
  Dims dims;
  bool unbiased;

  Gradients apply(const Node& node, Gradients gradients) {
    const Tensor x = input.unpack(node), root = result.unpack(node);
    const Tensor of_square = formula::div(gradients[0], formula::mul(root, 2));
    const Tensor finite = formula::where(tensor::eq(root, 0), 0, of_square);
    gradients[0] = var_gradient(formula::reshape(finite, kept_sizes(x, dims)), x, dims, unbiased);
    return gradients;
  }
  void release() noexcept {
    input.release();
    result.release();
  }
};

struct NormBackward {
  static constexpr const char* kName = "NormBackward0";
  SavedTensor input, result;
  Scalar p;
  Dims dims;

  Gradients apply(const Node& node, Gradients gradients) {
    const Tensor x = input.unpack(node);
    const Dims kept = kept_sizes(x, dims);
    const Tensor gradient = formula::reshape(gradients[0], kept), length = formula::reshape(result.unpack(node), kept);
    const bool is_recorded_root = is_grad_enabled() && p.to<double>() == 2;
    gradients[0] =
        is_recorded_root ? of_root(gradient, x, length) : formula::with_slopes(gradient, [&](const Tensor& g) {
          return tensor::norm_gradient(g, x, length, p, dims);
        });
    return gradients;
  }
  void release() noexcept {
    input.release();
    result.release();
  }

 private:
  static Tensor of_root(const Tensor& gradient, const Tensor& x, const Tensor& root) {
    return formula::mul(x, formula::where(tensor::eq(root, 0), 0, formula::div(gradient, root)));
  }
};

struct CumsumBackward {
  static constexpr const char* kName = "CumsumBackward0";
  std::int64_t dim;

  Gradients apply(const Node&, Gradients gradients) {
    const auto run = [dim = dim](const Tensor& x, const Tensor&) { return tensor::cumsum_gradient(x, dim); };
    const auto adjoint = [dim = dim](const Tensor& x, const Tensor&) { return tensor::cumsum(x, dim); };
    gradients[0] = linear_map(kName, gradients[0], run, adjoint);
    return gradients;
  }
};

// Returns for each element the product of the others along the dimension, recorded.
Tensor products_of_others(const Tensor& x, std::int64_t dim) {
  const std::int64_t count = x.size(dim);
  if (x.numel() == 0) return x;
  if (tensor::all(tensor::ne(x, 0)).item<bool>()) return formula::div(distrun::prod_along(x, dim, true), x);
  TensorList others(static_cast<std::size_t>(count));
  Tensor before = tensor::ones_like(tensor::narrow(x, dim, 0, 1)), after = before;
  for (std::int64_t i = 0; i < count; ++i) {
    others[static_cast<std::size_t>(i)] = before;
    before = formula::mul(before, formula::narrow(x, dim, i, 1));
  }
  for (std::int64_t i = count; i-- > 0;) {
    Tensor& other = others[static_cast<std::size_t>(i)];
    other = formula::mul(other, after);
    after = formula::mul(after, formula::narrow(x, dim, i, 1));
  }
  return distrun::cat(others, dim);
}

struct ProdBackward {
  static constexpr const char* kName = "ProdBackward0";
  SavedTensor input;
  Dims lines;  // the input's sizes, or one line of all elements
  std::int64_t dim;

  Gradients apply(const Node& node, Gradients gradients) {
    const Tensor x = input.unpack(node);
    const Tensor of_lines = gradient_of(gradients[0], formula::reshape(x, lines));
    gradients[0] = formula::reshape(of_lines, x.sizes());
    return gradients;
  }
  void release() noexcept { input.release(); }

 private:
  Tensor gradient_of(const Tensor& gradient, const Tensor& x) const {
    if (!is_grad_enabled()) return tensor::prod_gradient(gradient, x, dim);
    if (x.dim() == 0) return formula::reshape(gradient, x.sizes());
    const Tensor of_line = formula::reshape(gradient, kept_sizes(x, {dim}));
    return formula::mul(of_line, products_of_others(x, dim));
  }
};

}  // namespace

Tensor var(const Tensor& tensor) { return distrun::var(tensor, Dims{}); }

Tensor var(const Tensor& tensor, const Dims& dims, bool unbiased, bool keep_dims) {
  const OperatorScope scope("var", tensor);
  Tensor result = tensor::var(tensor, dims, unbiased, keep_dims);
  if (!needs_gradient(tensor)) return result;
  return with_history(std::move(result), record(VarBackward{SavedTensor(tensor), dims, unbiased}, tensor));
}

Tensor standard_deviation(const Tensor& tensor) { return distrun::standard_deviation(tensor, Dims{}); }

Tensor standard_deviation(const Tensor& tensor, const Dims& dims, bool unbiased, bool keep_dims) {
  const OperatorScope scope("std", tensor);
  Tensor result = tensor::standard_deviation(tensor, dims, unbiased, keep_dims);
  if (!needs_gradient(tensor)) return result;
  DeviationBackward formula{SavedTensor(tensor), SavedTensor::of_result(result), dims, unbiased};
  return with_history(std::move(result), record(std::move(formula), tensor));
}

Tensor norm(const Tensor& tensor, const std::optional<Scalar>& p) { return distrun::norm(tensor, p, Dims{}); }

Tensor norm(const Tensor& tensor, const std::optional<Scalar>& p, const Dims& dims, bool keep_dims) {
  const OperatorScope scope("norm", tensor);
  const Scalar power = p.value_or(2);
  Tensor result = tensor::norm(tensor, power, dims, keep_dims);
  if (!needs_gradient(tensor)) return result;
  NormBackward formula{SavedTensor(tensor), SavedTensor::of_result(result), power, dims};
  return with_history(std::move(result), record(std::move(formula), tensor));
}

Tensor cumsum(const Tensor& tensor, std::int64_t dim) {
  const OperatorScope scope("cumsum", tensor);
  Tensor result = tensor::cumsum(tensor, dim);
  if (!needs_gradient(tensor)) return result;
  return with_history(std::move(result), record(CumsumBackward{dim}, tensor));
}

Tensor prod(const Tensor& tensor) {
  const OperatorScope scope("prod", tensor);
  Tensor result = tensor::prod(tensor);
  if (!needs_gradient(tensor)) return result;
  ProdBackward formula{SavedTensor(tensor), {tensor.numel()}, 0};
  return with_history(std::move(result), record(std::move(formula), tensor));
}

Tensor prod_along(const Tensor& tensor, std::int64_t dim, bool keep_dim) {
  const OperatorScope scope("prod", tensor);
  Tensor result = tensor::prod_along(tensor, dim, keep_dim);
  if (!needs_gradient(tensor)) return result;
  ProdBackward formula{SavedTensor(tensor), tensor.sizes(), dim};
  return with_history(std::move(result), record(std::move(formula), tensor));
}

}  // namespace distrun
