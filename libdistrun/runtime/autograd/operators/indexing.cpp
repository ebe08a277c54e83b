#include <distrun/runtime/autograd/operators/indexing.hpp>

#include <distrun/runtime/autograd/operators/elementwise.hpp>
#include <distrun/runtime/autograd/operators/formula_operators.hpp>
#include <distrun/runtime/autograd/operators/in_place.hpp>
#include <distrun/runtime/autograd/operators/place_formulas.hpp>
#include <distrun/runtime/autograd/operators/views.hpp>
#include <distrun/runtime/autograd/scope.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/reshape.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/operators/nonzero.hpp>

namespace distrun {
namespace {

using namespace autograd;
using tensor::Numbers;

struct GatherBackward {
  static constexpr const char* kName = "GatherBackward0";
  SavedTensor index;
  Dims sizes;
  std::int64_t dim;

  Gradients apply(const Node& node, Gradients gradients) {
    gradients[0] = scattered(kName, gradients[0], dim, index.unpack(node), sizes);
    return gradients;
  }
  void release() noexcept { index.release(); }
};

// The gradients of x and the source, of which only the part that the index covers counts.
struct ScatterAddBackward {
  static constexpr const char* kName = "ScatterAddBackward0";
  SavedTensor index;
  Dims source_sizes;
  std::int64_t dim;

  Gradients apply(const Node& node, Gradients gradients) {
    Gradients results(2);
    if (node.needs(1)) results[1] = of_source(gradients[0], index.unpack(node));
    if (node.needs(0)) results[0] = std::move(gradients[0]);
    return results;
  }
  void release() noexcept { index.release(); }

 private:
  Tensor of_source(const Tensor& gradient, const Tensor& places) const {
    const auto run = [dim = dim, sizes = source_sizes](const Tensor& from, const Tensor& at) {
      return padded(tensor::gather(from, dim, at, Numbers::InRange), sizes);
    };
    const auto adjoint = [dim = dim, sizes = gradient.sizes()](const Tensor& from, const Tensor& at) {
      Tensor to = tensor::zeros(sizes, from.options());
      tensor::scatter_add_(to, dim, at, from, Numbers::InRange);
      return to;
    };
    return linear_map(kName, gradient, run, adjoint, places);
  }
  static Tensor padded(const Tensor& tensor, const Dims& sizes) {
    if (tensor.sizes() == sizes) return tensor;
    const Tensor all = tensor::zeros(sizes, tensor.options());
    Tensor part = all;
    for (std::int64_t i = 0; i < tensor.dim(); ++i) part = tensor::narrow(part, i, 0, tensor.size(i));
    tensor::copy_(part, tensor);
    return all;
  }
};

struct IndexSelectBackward {
  static constexpr const char* kName = "IndexSelectBackward0";
  SavedTensor index;
  Dims sizes;
  std::int64_t dim;

  Gradients apply(const Node& node, Gradients gradients) {
    gradients[0] = index_added(kName, gradients[0], dim, index.unpack(node), sizes);
    return gradients;
  }
  void release() noexcept { index.release(); }
};

// The gradients of x and the source.
struct IndexAddBackward {
  static constexpr const char* kName = "IndexAddBackward0";
  SavedTensor index;
  Scalar alpha;
  std::int64_t dim;
  Dims source_sizes;

  Gradients apply(const Node& node, Gradients gradients) {
    Gradients results(2);
    if (node.needs(1)) results[1] = of_source(gradients[0], index.unpack(node));
    if (node.needs(0)) results[0] = std::move(gradients[0]);
    return results;
  }
  void release() noexcept { index.release(); }

 private:
  Tensor of_source(const Tensor& gradient, const Tensor& places) const {
    const auto run = [dim = dim, sizes = source_sizes](const Tensor& from, const Tensor& at) {
      return tensor::view(tensor::index_select(from, dim, at, Numbers::InRange), sizes);
    };
    const auto adjoint = [dim = dim, sizes = gradient.sizes()](const Tensor& from, const Tensor& at) {
      Tensor to = tensor::zeros(sizes, from.options());
      tensor::index_add_(to, dim, at, from, 1, Numbers::InRange);
      return to;
    };
    const Tensor taken = linear_map(kName, gradient, run, adjoint, places);
    return alpha == Scalar(1) ? taken : formula::mul(taken, alpha);
  }
};

}  // namespace

Tensor gather(const Tensor& x, std::int64_t dim, const Tensor& index) {
  const OperatorScope scope("gather", x, index);
  Tensor result = tensor::gather(x, dim, index);
  if (!needs_gradient(x)) return result;
  return with_history(std::move(result), record(GatherBackward{SavedTensor(index), x.sizes(), dim}, x));
}

Tensor scatter_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source) {
  const OperatorScope scope("scatter_add", x, index, source);
  Tensor result = tensor::scatter_add(x, dim, index, source);
  if (!needs_gradient(x, source)) return result;
  ScatterAddBackward formula{SavedTensor(index), source.sizes(), dim};
  return with_history(std::move(result), record(std::move(formula), x, source));
}

Tensor scatter_add_(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source) {
  const OperatorScope scope("scatter_add_", x, index, source);
  tensor::check_defined("scatter_add_", {&x, &index, &source});
  const auto formula = [&] { return ScatterAddBackward{SavedTensor(index), source.sizes(), dim}; };
  return in_place(
      x, formula, [&] { tensor::scatter_add_(x, dim, index, source); }, source);
}

Tensor index_select(const Tensor& x, std::int64_t dim, const Tensor& index) {
  const OperatorScope scope("index_select", x, index);
  Tensor result = tensor::index_select(x, dim, index);
  if (!needs_gradient(x)) return result;
  return with_history(std::move(result), record(IndexSelectBackward{SavedTensor(index), x.sizes(), dim}, x));
}

Tensor index_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
  const OperatorScope scope("index_add", x, index, source);
  Tensor result = tensor::index_add(x, dim, index, source, alpha);
  if (!needs_gradient(x, source)) return result;
  IndexAddBackward formula{SavedTensor(index), alpha, dim, source.sizes()};
  return with_history(std::move(result), record(std::move(formula), x, source));
}

Tensor index_add_(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
  const OperatorScope scope("index_add_", x, index, source);
  tensor::check_defined("index_add_", {&x, &index, &source});
  const auto formula = [&] { return IndexAddBackward{SavedTensor(index), alpha, dim, source.sizes()}; };
  return in_place(
      x, formula, [&] { tensor::index_add_(x, dim, index, source, alpha); }, source);
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, const Scalar& value) {
  const OperatorScope scope("masked_fill", x, mask);
  tensor::check_defined("masked_fill", {&x, &mask});
  tensor::check_dense("masked_fill", {&x, &mask});
  if (mask.dtype() != tensor::DType::Bool) tensor::refuse("masked_fill", "the mask must be bool", {&mask});
  if (!tensor::is_expandable(mask.sizes(), x.sizes())) {
    tensor::refuse("masked_fill", "the mask must be expandable to the tensor's sizes", {&x, &mask});
  }
  tensor::check_fits("masked_fill", value, x.dtype());
  return where(mask, tensor::scalar_tensor(value, x.options()), x);
}

Tensor masked_select(const Tensor& x, const Tensor& mask) {
  const OperatorScope scope("masked_select", x, mask);
  tensor::check_defined("masked_select", {&x, &mask});
  if (mask.dtype() != tensor::DType::Bool) tensor::refuse("masked_select", "the mask must be bool", {&mask});
  const Dims sizes = tensor::broadcast("masked_select", x, mask);
  // The number of each selected element, row by row.
  const Tensor places = tensor::nonzero(tensor::reshape(tensor::expand(mask, sizes), {-1}));
  return index_select(reshape(expand(x, sizes), {-1}), 0, tensor::select_view(places, 1, 0));
}

}  // namespace distrun
