#include <distrun/runtime/autograd/operators/reduce.hpp>

#include <algorithm>

#include <distrun/runtime/autograd/operators/formula_operators.hpp>
#include <distrun/runtime/autograd/operators/sparse_places.hpp>
#include <distrun/runtime/autograd/scope.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/reshape.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>
#include <distrun/runtime/tensor/operators/reduce.hpp>
#include <distrun/runtime/tensor/sparse/sparse.hpp>

namespace distrun {
namespace {

using namespace autograd;

struct SumBackward {
  static constexpr const char* kName = "SumBackward0";
  Dims sizes;

  Gradients apply(const Node&, Gradients gradients) {
    gradients[0] = formula::expand(gradients[0], sizes);
    return gradients;
  }
};

struct SparseSumBackward {
  static constexpr const char* kName = "SumBackward0";
  SavedPlaces places;
  Dims sizes;

  Gradients apply(const Node& node, Gradients gradients) {
    formula::refuse_recording(node, kNotOfSparse);
    const Tensor once = tensor::coalesce(places.unpack(node));
    Dims of_values{tensor::nnz(once)};
    for (const std::int64_t size : sizes.span().subspan(once.sizes().size())) of_values.push_back(size);
    const Tensor values = tensor::contiguous(tensor::expand(gradients[0], of_values));
    gradients[0] = tensor::sparse_coo_unchecked(tensor::sparse(once).indices, values, sizes, true);
    return gradients;
  }
  void release() noexcept { places.release(); }
};

struct SumDimsBackward {
  static constexpr const char* kName = "SumBackward1";
  Dims sizes;
  Dims kept;  // the same with 1 for reduced dimensions

  Gradients apply(const Node&, Gradients gradients) {
    gradients[0] = formula::expand(formula::reshape(gradients[0], kept), sizes);
    return gradients;
  }
};

struct MeanBackward {
  static constexpr const char* kName = "MeanBackward0";
  Dims sizes;

  Gradients apply(const Node&, Gradients gradients) {
    gradients[0] = formula::expand(formula::div(gradients[0], device::count_of(sizes)), sizes);
    return gradients;
  }
};

struct MeanDimsBackward {
  static constexpr const char* kName = "MeanBackward1";
  Dims sizes;
  Dims kept;  // the same with 1 for reduced dimensions

  Gradients apply(const Node&, Gradients gradients) {
    const std::int64_t lines = std::max<std::int64_t>(device::count_of(kept), 1);
    const Tensor share = formula::div(gradients[0], device::count_of(sizes) / lines);
    gradients[0] = formula::expand(formula::reshape(share, kept), sizes);
    return gradients;
  }
};

struct MseLossBackward {
  static constexpr const char* kName = "MseLossBackward0";
  SavedTensor input, target;

  Gradients apply(const Node& node, Gradients gradients) {
    const Tensor distance = formula::sub(input.unpack(node), target.unpack(node));
    const double share = 2.0 / static_cast<double>(distance.numel());
    Tensor of_input = multiplied(distance, formula::mul(gradients[0], share));
    Gradients results(2);
    if (node.needs(1)) results[1] = formula::neg(of_input);
    if (node.needs(0)) results[0] = std::move(of_input);
    return results;
  }
  void release() noexcept {
    input.release();
    target.release();
  }

 private:
  static Tensor multiplied(const Tensor& distance, const Tensor& factor) {
    if (is_grad_enabled()) return formula::mul(distance, factor);
    tensor::mul_(distance, factor);
    return distance;
  }
};

Dims with_ones(const Tensor& tensor, const Dims& dims) {
  Dims sizes = tensor.sizes();
  for (const std::int64_t dim : dims) {
    if (!sizes.empty()) sizes[tensor::wrap_dim("sum", dim, sizes.size())] = 1;
  }
  if (dims.empty()) std::fill(sizes.begin(), sizes.end(), 1);
  return sizes;
}

}  // namespace

Tensor sum(const Tensor& tensor) {
  const OperatorScope scope("sum", tensor);
  Tensor result = tensor::sum(tensor);
  if (!needs_gradient(tensor)) return result;
  if (tensor.is_sparse()) {
    return with_history(std::move(result), record(SparseSumBackward{SavedPlaces(tensor), tensor.sizes()}, tensor));
  }
  return with_history(std::move(result), record(SumBackward{tensor.sizes()}, tensor));
}

Tensor sum(const Tensor& tensor, const Dims& dims, bool keep_dims) {
  const OperatorScope scope("sum", tensor);
  Tensor result = tensor::sum(tensor, dims, keep_dims);
  if (!needs_gradient(tensor)) return result;
  SumDimsBackward formula{tensor.sizes(), with_ones(tensor, dims)};
  return with_history(std::move(result), record(std::move(formula), tensor));
}

Tensor mean(const Tensor& tensor) {
  const OperatorScope scope("mean", tensor);
  Tensor result = tensor::mean(tensor);
  if (!needs_gradient(tensor)) return result;
  return with_history(std::move(result), record(MeanBackward{tensor.sizes()}, tensor));
}

Tensor mean(const Tensor& tensor, const Dims& dims, bool keep_dims) {
  const OperatorScope scope("mean", tensor);
  Tensor result = tensor::mean(tensor, dims, keep_dims);
  if (!needs_gradient(tensor)) return result;
  MeanDimsBackward formula{tensor.sizes(), with_ones(tensor, dims)};
  return with_history(std::move(result), record(std::move(formula), tensor));
}

Tensor mse_loss(const Tensor& input, const Tensor& target) {
  const OperatorScope scope("mse_loss", input, target);
  Tensor result = tensor::mse_loss(input, target);
  if (!needs_gradient(input, target)) return result;
  MseLossBackward formula{SavedTensor(input), SavedTensor(target)};
  return with_history(std::move(result), record(std::move(formula), input, target));
}

Tensor all(const Tensor& tensor) {
  const OperatorScope scope("all", tensor);
  return tensor::all(tensor);
}

Tensor all_along(const Tensor& tensor, std::int64_t dim, bool keep_dim) {
  const OperatorScope scope("all", tensor);
  return tensor::all_along(tensor, dim, keep_dim);
}

Tensor any(const Tensor& tensor) {
  const OperatorScope scope("any", tensor);
  return tensor::any(tensor);
}

Tensor any_along(const Tensor& tensor, std::int64_t dim, bool keep_dim) {
  const OperatorScope scope("any", tensor);
  return tensor::any_along(tensor, dim, keep_dim);
}

bool equal(const Tensor& a, const Tensor& b) {
  const OperatorScope scope("equal", a, b);
  return tensor::equal(a, b);
}

}  // namespace distrun
