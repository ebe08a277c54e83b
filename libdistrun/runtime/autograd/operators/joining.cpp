#include <distrun/runtime/autograd/operators/joining.hpp>

#include <distrun/runtime/autograd/operators/formula_operators.hpp>
#include <distrun/runtime/autograd/scope.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/operators/joining.hpp>
#include <distrun/runtime/tensor/sparse/sparse.hpp>

namespace distrun {
namespace {

using namespace autograd;

struct CatBackward {
  static constexpr const char* kName = "CatBackward0";
  std::int64_t dim;
  std::vector<std::int64_t> lengths;

  Gradients apply(const Node& node, Gradients gradients) {
    Gradients results(lengths.size());
    std::int64_t start = 0;
    for (std::size_t i = 0; i < lengths.size(); start += lengths[i++]) {
      if (node.needs(i)) results[i] = formula::narrow(gradients[0], dim, start, lengths[i]);
    }
    return results;
  }
};

struct StackBackward {
  static constexpr const char* kName = "StackBackward0";
  std::int64_t dim;

  Gradients apply(const Node& node, Gradients gradients) {
    const Tensor& gradient = gradients[0];
    Gradients results(node.next_edges().size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!node.needs(i)) continue;
      results[i] = formula::select(gradient, dim, static_cast<std::int64_t>(i));
    }
    return results;
  }
};

template <class Formula>
Tensor recorded(Tensor result, const TensorList& tensors, Formula formula) {
  auto node = make_node_for(std::move(formula));
  for (const Tensor& tensor : tensors) node->add_next_edge(gradient_edge(tensor));
  return with_history(std::move(result), std::move(node));
}

std::int64_t wrapped(const char* op, std::int64_t dim, const Tensor& result) {
  return static_cast<std::int64_t>(tensor::wrap_dim(op, dim, result.sizes().size()));
}

}  // namespace

Tensor cat(const TensorList& tensors, std::int64_t dim) {
  const OperatorScope scope("cat", tensors);
  Tensor result = tensor::cat(tensors, dim);
  if (!any_needs_gradient(tensors)) return result;
  CatBackward formula{wrapped("cat", dim, result), {}};
  for (const Tensor& tensor : tensors) formula.lengths.push_back(tensor.size(formula.dim));
  return recorded(std::move(result), tensors, std::move(formula));
}

Tensor stack(const TensorList& tensors, std::int64_t dim) {
  const OperatorScope scope("stack", tensors);
  Tensor result = tensor::stack(tensors, dim);
  if (!any_needs_gradient(tensors)) return result;
  const StackBackward formula{wrapped("stack", dim, result)};
  return recorded(std::move(result), tensors, formula);
}

}  // namespace distrun
