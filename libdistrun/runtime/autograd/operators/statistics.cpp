#include <distrun/runtime/autograd/operators/statistics.hpp>

#include <distrun/runtime/autograd/record.hpp>
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

// Sizes of a result that kept its dimensions.
Dims kept_sizes(const Tensor& tensor, const Dims& dims) {
  return tensor::sizes_without(tensor.sizes(), tensor::reduced_dims("sum", tensor, dims), true);
}

struct VarBackward {
  static constexpr const char* kName = "VarBackward0";
  SavedTensor input;
  Dims dims;
  bool unbiased;

  Gradients apply(const Node& node, Gradients gradients) {
    const Tensor x = input.unpack(node);
    gradients[0] = tensor::var_gradient(tensor::reshape(gradients[0], kept_sizes(x, dims)), x, dims, unbiased);
    return gradients;
  }
  void release() noexcept { input.release(); }
};

// That of the square, divided by twice the root; none where that is 0.
struct DeviationBackward {
  static constexpr const char* kName = "StdBackward0";
  SavedTensor input, result;
  Dims dims;
  bool unbiased;

  Gradients apply(const Node& node, Gradients gradients) {
    const Tensor x = input.unpack(node), root = result.unpack(node);
    const Tensor of_square = tensor::div(gradients[0], tensor::mul(root, 2));
    const Tensor finite = tensor::where(tensor::eq(root, 0), 0, of_square);
    gradients[0] = tensor::var_gradient(tensor::reshape(finite, kept_sizes(x, dims)), x, dims, unbiased);
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
    gradients[0] = tensor::norm_gradient(tensor::reshape(gradients[0], kept), x,
                                         tensor::reshape(result.unpack(node), kept), p, dims);
    return gradients;
  }
  void release() noexcept {
    input.release();
    result.release();
  }
};

struct CumsumBackward {
  static constexpr const char* kName = "CumsumBackward0";
  std::int64_t dim;

  Gradients apply(const Node&, Gradients gradients) {
    gradients[0] = tensor::cumsum_gradient(gradients[0], dim);
    return gradients;
  }
};

struct ProdBackward {
  static constexpr const char* kName = "ProdBackward0";
  SavedTensor input;
  Dims lines;  // the input's sizes, or one line of all
  std::int64_t dim;

  Gradients apply(const Node& node, Gradients gradients) {
    const Tensor x = input.unpack(node);
    const Tensor of_lines = tensor::prod_gradient(gradients[0], tensor::reshape(x, lines), dim);
    gradients[0] = tensor::reshape(of_lines, x.sizes());
    return gradients;
  }
  void release() noexcept { input.release(); }
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
  DeviationBackward formula{SavedTensor(tensor), SavedTensor(result, true), dims, unbiased};
  return with_history(std::move(result), record(std::move(formula), tensor));
}

Tensor norm(const Tensor& tensor, const Scalar& p) { return distrun::norm(tensor, p, Dims{}); }

Tensor norm(const Tensor& tensor, const Scalar& p, const Dims& dims, bool keep_dims) {
  const OperatorScope scope("norm", tensor);
  Tensor result = tensor::norm(tensor, p, dims, keep_dims);
  if (!needs_gradient(tensor)) return result;
  NormBackward formula{SavedTensor(tensor), SavedTensor(result, true), p, dims};
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
