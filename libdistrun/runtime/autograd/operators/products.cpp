#include <distrun/runtime/autograd/operators/products.hpp>

#include <distrun/runtime/autograd/operators/formula_operators.hpp>
#include <distrun/runtime/autograd/scope.hpp>
#include <distrun/runtime/tensor/core/reshape.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>
#include <distrun/runtime/tensor/operators/matmul.hpp>

namespace distrun {
namespace {

using namespace autograd;

Tensor transposed(const Tensor& matrices) { return formula::transpose(matrices, -2, -1); }

// The gradients of matmul, which broadcasts batches: broadcast dimensions are summed on delivery. A vector is treated
// as a matrix of one row or column.
struct MatmulBackward {
  const char* kind;
  SavedTensor a, b;
  const char* name() const { return kind; }

  Gradients apply(const Node& node, Gradients gradients) {
    // A factor is kept only if the other one's gradient is needed.
    const bool a_is_row = is_row, b_is_column = is_column;
    Tensor gradient = gradients[0];
    if (a_is_row) gradient = formula::unsqueeze(gradient, b_is_column ? -1 : -2);
    if (b_is_column) gradient = formula::unsqueeze(gradient, -1);
    Gradients results(2);
    if (node.needs(0)) {
      const Tensor other = b.unpack(node);
      const Tensor of_a = formula::matmul(gradient, transposed(b_is_column ? formula::unsqueeze(other, -1) : other));
      results[0] = a_is_row ? formula::squeeze(of_a, -2) : of_a;
    }
    if (node.needs(1)) {
      const Tensor other = a.unpack(node);
      const Tensor of_b = formula::matmul(transposed(a_is_row ? formula::unsqueeze(other, 0) : other), gradient);
      results[1] = b_is_column ? formula::squeeze(of_b, -1) : of_b;
    }
    return results;
  }
  void release() noexcept {
    a.release();
    b.release();
  }

  bool is_row = false, is_column = false;
};

struct LinearBackward {
  static constexpr const char* kName = "LinearBackward0";
  SavedTensor x, weight;

  Gradients apply(const Node& node, Gradients gradients) {
    const Tensor& gradient = gradients[0];
    Gradients results(node.next_edges().size());
    if (node.needs(0)) results[0] = formula::matmul(gradient, weight.unpack(node));
    if (node.needs(1)) results[1] = formula::mm(formula::t(rows_of(gradient)), rows_of(x.unpack(node)));
    if (node.needs(2)) results[2] = gradient;  // summed over the rows on delivery
    return results;
  }
  void release() noexcept {
    x.release();
    weight.release();
  }

 private:
  static Tensor rows_of(const Tensor& tensor) {
    if (tensor.dim() == 1) return formula::unsqueeze(tensor, 0);
    Dims rows = tensor.sizes();
    rows.erase(rows.size() - 1);
    return formula::reshape(tensor, Dims{device::count_of(rows), tensor.size(-1)});
  }
};

// If P is the product of the factors before one and S of those after it, its gradient is P^T g S^T.
struct MultiDotBackward {
  static constexpr const char* kName = "LinalgMultiDotBackward0";
  std::vector<SavedTensor> factors;

  Gradients apply(const Node& node, Gradients gradients) {
    std::vector<Tensor> matrices;
    for (const SavedTensor& factor : factors) matrices.push_back(factor.unpack(node));
    const bool starts_with_row = matrices.front().dim() == 1, ends_with_column = matrices.back().dim() == 1;
    if (starts_with_row) matrices.front() = formula::unsqueeze(matrices.front(), 0);
    if (ends_with_column) matrices.back() = formula::unsqueeze(matrices.back(), 1);
    const Tensor gradient = formula::reshape(gradients[0], Dims{matrices.front().size(0), matrices.back().size(1)});
    Gradients results = results_of(node, matrices, gradient);
    if (starts_with_row && node.needs(0)) results[0] = formula::squeeze(results[0], 0);
    const std::size_t last = results.size() - 1;
    if (ends_with_column && node.needs(last)) results[last] = formula::squeeze(results[last], 1);
    return results;
  }
  void release() noexcept {
    for (SavedTensor& factor : factors) factor.release();
  }

 private:
  Gradients results_of(const Node& node, const std::vector<Tensor>& matrices, const Tensor& gradient) const {
    const std::size_t count = matrices.size();
    std::vector<Tensor> after(count);  // g times the transposed product of the factors after it
    after[count - 1] = gradient;
    for (std::size_t i = count - 1; i-- > 0;) after[i] = formula::mm(after[i + 1], formula::t(matrices[i + 1]));
    Gradients results(count);
    Tensor before;  // the product of the factors before it
    for (std::size_t i = 0; i < count; ++i) {
      if (node.needs(i)) results[i] = i == 0 ? after[0] : formula::mm(formula::t(before), after[i]);
      if (i + 1 < count) before = i == 0 ? matrices[0] : formula::mm(before, matrices[i]);
    }
    return results;
  }
};

Tensor recorded(const char* kind, Tensor result, const Tensor& a, const Tensor& b) {
  if (!needs_gradient(a, b)) return result;
  MatmulBackward formula{kind, {}, {}};
  if (requires_grad(b)) formula.a = SavedTensor(a);
  if (requires_grad(a)) formula.b = SavedTensor(b);
  formula.is_row = a.dim() == 1;
  formula.is_column = b.dim() == 1;
  return with_history(std::move(result), record(std::move(formula), a, b));
}

}  // namespace

Tensor mm(const Tensor& a, const Tensor& b) {
  const OperatorScope scope("mm", a, b);
  return recorded("MmBackward0", tensor::mm(a, b), a, b);
}

Tensor bmm(const Tensor& a, const Tensor& b) {
  const OperatorScope scope("bmm", a, b);
  return recorded("BmmBackward0", tensor::bmm(a, b), a, b);
}

Tensor matmul(const Tensor& a, const Tensor& b) {
  const OperatorScope scope("matmul", a, b);
  Tensor result = tensor::matmul(a, b);
  const bool are_matrices = a.dim() == 2 && b.dim() == 2;
  return recorded(are_matrices ? "MmBackward0" : "MatmulBackward0", std::move(result), a, b);
}

Tensor multi_dot(const TensorList& tensors) {
  const OperatorScope scope("multi_dot", tensors);
  Tensor result = tensor::multi_dot(tensors);
  if (!any_needs_gradient(tensors)) return result;
  MultiDotBackward formula;
  for (const Tensor& tensor : tensors) formula.factors.emplace_back(tensor);
  auto node = make_node_for(std::move(formula));
  for (const Tensor& tensor : tensors) node->add_next_edge(gradient_edge(tensor));
  return with_history(std::move(result), std::move(node));
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const OperatorScope scope("linear", x, weight, bias);
  Tensor result = tensor::linear(x, weight, bias);
  if (!needs_gradient(x, weight, bias)) return result;
  LinearBackward formula;
  if (requires_grad(weight)) formula.x = SavedTensor(x);
  if (requires_grad(x)) formula.weight = SavedTensor(weight);
  auto node = record(std::move(formula), x, weight);
  if (bias.defined()) node->add_next_edge(gradient_edge(bias));
  return with_history(std::move(result), std::move(node));
}

}  // namespace distrun
