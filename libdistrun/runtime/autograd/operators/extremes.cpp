#include <distrun/runtime/autograd/operators/extremes.hpp>

#include <distrun/runtime/autograd/operators/formula_operators.hpp>
#include <distrun/runtime/autograd/operators/place_formulas.hpp>
#include <distrun/runtime/autograd/scope.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/operators/reduced_lines.hpp>

namespace distrun {
namespace {

using namespace autograd;

// The gradient of an extreme that is shared by all elements equal to it.
struct SharedExtremeBackward {
  const char* kind;
  SavedTensor input, result;
  Dims dims;
  const char* name() const { return kind; }

  Gradients apply(const Node& node, Gradients gradients) {
    const Tensor x = input.unpack(node), extreme = result.unpack(node);
    const Dims kept = tensor::sizes_without(x.sizes(), tensor::reduced_dims(kind, x, dims), true);
    gradients[0] = formula::with_slopes(formula::reshape(gradients[0], kept), [&](const Tensor& g) {
      return tensor::extremes_gradient(g, x, extreme, dims);
    });
    return gradients;
  }
  void release() noexcept {
    input.release();
    result.release();
  }
};

// The gradient of an extreme at known indices.
struct PlacedExtremeBackward {
  const char* kind;
  SavedTensor indices;
  Dims sizes;
  std::int64_t dim;
  bool keep_dim;
  const char* name() const { return kind; }

  Gradients apply(const Node& node, Gradients gradients) {
    const auto whole = [this](const Tensor& tensor) {
      return keep_dim || sizes.empty() ? tensor : formula::unsqueeze(tensor, dim);
    };
    gradients[0] = scattered(kind, whole(gradients[0]), dim, whole(indices.unpack(node)), sizes);
    return gradients;
  }
  void release() noexcept { indices.release(); }
};

Tensor shared(Tensor result, const Tensor& tensor, const char* kind, const Dims& dims) {
  if (!needs_gradient(tensor)) return result;
  SharedExtremeBackward formula{kind, SavedTensor(tensor), SavedTensor::of_result(result), dims};
  return with_history(std::move(result), record(std::move(formula), tensor));
}

Extremes placed(Extremes result, const Tensor& tensor, const char* kind, std::int64_t dim, bool keep_dim) {
  if (!needs_gradient(tensor)) return result;
  const auto at = static_cast<std::int64_t>(tensor::wrap_dim(kind, dim, tensor.sizes().size()));
  PlacedExtremeBackward formula{kind, SavedTensor(result.indices), tensor.sizes(), at, keep_dim};
  result.values = with_history(std::move(result.values), record(std::move(formula), tensor));
  return result;
}

}  // namespace

Tensor max(const Tensor& tensor) {
  const OperatorScope scope("max", tensor);
  return shared(tensor::max(tensor), tensor, "MaxBackward1", {});
}

Tensor min(const Tensor& tensor) {
  const OperatorScope scope("min", tensor);
  return shared(tensor::min(tensor), tensor, "MinBackward1", {});
}

Extremes max_along(const Tensor& tensor, std::int64_t dim, bool keep_dim) {
  const OperatorScope scope("max", tensor);
  return placed(tensor::max_along(tensor, dim, keep_dim), tensor, "MaxBackward0", dim, keep_dim);
}

Extremes min_along(const Tensor& tensor, std::int64_t dim, bool keep_dim) {
  const OperatorScope scope("min", tensor);
  return placed(tensor::min_along(tensor, dim, keep_dim), tensor, "MinBackward0", dim, keep_dim);
}

Tensor amax(const Tensor& tensor, const Dims& dims, bool keep_dims) {
  const OperatorScope scope("amax", tensor);
  return shared(tensor::amax(tensor, dims, keep_dims), tensor, "AmaxBackward0", dims);
}

Tensor amin(const Tensor& tensor, const Dims& dims, bool keep_dims) {
  const OperatorScope scope("amin", tensor);
  return shared(tensor::amin(tensor, dims, keep_dims), tensor, "AminBackward0", dims);
}

Tensor argmax(const Tensor& tensor) {
  const OperatorScope scope("argmax", tensor);
  return tensor::argmax(tensor);
}

Tensor argmin(const Tensor& tensor) {
  const OperatorScope scope("argmin", tensor);
  return tensor::argmin(tensor);
}

Tensor argmax(const Tensor& tensor, std::int64_t dim, bool keep_dim) {
  const OperatorScope scope("argmax", tensor);
  return tensor::argmax(tensor, dim, keep_dim);
}

Tensor argmin(const Tensor& tensor, std::int64_t dim, bool keep_dim) {
  const OperatorScope scope("argmin", tensor);
  return tensor::argmin(tensor, dim, keep_dim);
}

}  // namespace distrun
