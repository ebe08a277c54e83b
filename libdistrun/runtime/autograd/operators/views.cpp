#include <distrun/runtime/autograd/operators/views.hpp>

#include <algorithm>

#include <distrun/runtime/autograd/gradient_fit.hpp>
#include <distrun/runtime/autograd/operators/formula_operators.hpp>
#include <distrun/runtime/autograd/operators/sparse_places.hpp>
#include <distrun/runtime/autograd/scope.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/reshape.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/operators/reduce.hpp>

namespace distrun {
namespace {

using namespace autograd;

// The gradient of the same elements in another shape.
struct ShapeBackward {
  const char* kind;
  Dims sizes;  // of the base
  const char* name() const { return kind; }

  Gradients apply(const Node&, Gradients gradients) {
    gradients[0] = formula::reshape(gradients[0], sizes);
    return gradients;
  }
};

// The gradient of a permutation of dimensions.
struct PermuteBackward {
  const char* kind;
  Dims order;  // the inverse permutation
  const char* name() const { return kind; }

  Gradients apply(const Node&, Gradients gradients) {
    gradients[0] = formula::permute(gradients[0], order);
    return gradients;
  }
};

struct ExpandBackward {
  static constexpr const char* kName = "ExpandBackward0";
  Dims sizes;

  Gradients apply(const Node&, Gradients gradients) {
    gradients[0] = summed_to_size(gradients[0], sizes);
    return gradients;
  }
};

// The gradient of pieces of one dimension. Pieces without a gradient, and elements in no piece, get zero.
struct PiecesBackward {
  struct Piece {
    std::int64_t start, length;
    bool is_selected = false;  // select(): the dimension is removed
  };
  const char* kind;
  Dims sizes;
  std::int64_t dim;
  std::vector<Piece> pieces;
  const char* name() const { return kind; }

  Gradients apply(const Node& node, Gradients gradients) {
    if (is_grad_enabled()) return apply_recorded(gradients);
    const InputMetadata& like = node.inputs()[0];
    Tensor whole = tensor::zeros(sizes, {like.dtype, like.device});
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (gradients[i].defined()) tensor::copy_(part_of(whole, dim, pieces[i]), gradients[i]);
    }
    Gradients results(1);
    results[0] = std::move(whole);
    return results;
  }

 private:
  static Tensor part_of(const Tensor& whole, std::int64_t dim, const Piece& piece) {
    return piece.is_selected ? tensor::select_view(whole, dim, piece.start)
                             : tensor::narrow(whole, dim, piece.start, piece.length);
  }
  Tensor among_zeros(const Tensor& gradient, const Piece& piece) const {
    const auto run = [dim = dim, sizes = sizes, piece](const Tensor& x, const Tensor&) {
      Tensor whole = tensor::zeros(sizes, x.options());
      tensor::copy_(part_of(whole, dim, piece), x);
      return whole;
    };
    const auto adjoint = [dim = dim, piece](const Tensor& x, const Tensor&) {
      return tensor::clone(part_of(x, dim, piece));
    };
    return linear_map(kind, gradient, run, adjoint);
  }
  Gradients apply_recorded(const Gradients& gradients) const {
    Gradients results(1);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (!gradients[i].defined()) continue;
      const Tensor piece = among_zeros(gradients[i], pieces[i]);
      results[0] = results[0].defined() ? formula::add(results[0], piece) : piece;
    }
    return results;
  }
};

template <class MakeFormula>
Tensor recorded(Tensor view, const Tensor& of, MakeFormula make_formula) {
  if (view.is_same(of)) view = tensor::alias(of);  // unchanged, but a separate tensor with its own history
  mark_view(view, of);
  return needs_gradient(of) ? with_history(std::move(view), record(make_formula(), of)) : view;
}

Tensor reshaped(Tensor view, const Tensor& of, const char* kind) {
  return recorded(std::move(view), of, [&] { return ShapeBackward{kind, of.sizes()}; });
}

std::int64_t wrapped_dim(const char* op, std::int64_t dim, const Tensor& tensor) {
  return static_cast<std::int64_t>(tensor::wrap_dim(op, dim, tensor.sizes().size()));
}

Dims swapped(const Tensor& tensor, std::int64_t a, std::int64_t b) {
  Dims order;
  for (std::int64_t i = 0; i < tensor.dim(); ++i) order.push_back(i == a ? b : i == b ? a : i);
  return order;
}

Dims inverse(const Tensor& tensor, const Dims& order) {
  Dims back(order.size(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    back[static_cast<std::size_t>(wrapped_dim("permute", order[i], tensor))] = static_cast<std::int64_t>(i);
  }
  return back;
}

bool shares_bytes(const Tensor& a, const Tensor& b) { return a.strided().storage() == b.strided().storage(); }

TensorList pieces_of(const Tensor& tensor, TensorList parts, std::int64_t dim, const char* kind) {
  std::vector<PiecesBackward::Piece> pieces;
  std::int64_t start = 0;
  for (const Tensor& part : parts) {
    mark_view(part, tensor);
    pieces.push_back({start, part.size(dim)});
    start += part.size(dim);
  }
  if (!needs_gradient(tensor)) return parts;
  const Ref<Node> node = record(PiecesBackward{kind, tensor.sizes(), dim, std::move(pieces)}, tensor);
  for (Tensor& part : parts) part = with_history(std::move(part), node);
  return parts;
}

}  // namespace

Tensor view(const Tensor& tensor, const Dims& sizes) {
  const OperatorScope scope("view", tensor);
  return reshaped(tensor::view(tensor, sizes), tensor, "ViewBackward0");
}

Tensor reshape(const Tensor& tensor, const Dims& sizes) {
  const OperatorScope scope("reshape", tensor);
  Tensor result = tensor::reshape(tensor, sizes);
  if (shares_bytes(result, tensor)) return reshaped(std::move(result), tensor, "ViewBackward0");
  if (!needs_gradient(tensor)) return result;
  return with_history(std::move(result), record(ShapeBackward{"ReshapeBackward0", tensor.sizes()}, tensor));
}

Tensor flatten(const Tensor& tensor, std::int64_t first, std::int64_t last) {
  const tensor::CalledOperator called("flatten");
  return distrun::reshape(tensor, tensor::flatten(tensor, first, last).sizes());
}

Tensor expand(const Tensor& tensor, const Dims& sizes) {
  const OperatorScope scope("expand", tensor);
  return recorded(tensor::expand(tensor, sizes), tensor, [&] { return ExpandBackward{tensor.sizes()}; });
}

Tensor transpose(const Tensor& tensor, std::int64_t a, std::int64_t b) {
  const OperatorScope scope("transpose", tensor);
  const auto formula = [&] {
    const Dims order = swapped(tensor, wrapped_dim("transpose", a, tensor), wrapped_dim("transpose", b, tensor));
    return PermuteBackward{"TransposeBackward0", order};
  };
  return recorded(tensor::transpose(tensor, a, b), tensor, formula);
}

Tensor t(const Tensor& tensor) {
  const OperatorScope scope("t", tensor);
  const auto formula = [&] {
    return PermuteBackward{"TBackward0", tensor.dim() == 2 ? Dims{1, 0} : swapped(tensor, 0, 0)};
  };
  return recorded(tensor::t(tensor), tensor, formula);
}

Tensor permute(const Tensor& tensor, const Dims& order) {
  const OperatorScope scope("permute", tensor);
  const auto formula = [&] { return PermuteBackward{"PermuteBackward0", inverse(tensor, order)}; };
  return recorded(tensor::permute(tensor, order), tensor, formula);
}

Tensor unsqueeze(const Tensor& tensor, std::int64_t dim) {
  const OperatorScope scope("unsqueeze", tensor);
  return reshaped(tensor::unsqueeze(tensor, dim), tensor, "UnsqueezeBackward0");
}

Tensor squeeze(const Tensor& tensor, std::int64_t dim) {
  const OperatorScope scope("squeeze", tensor);
  return reshaped(tensor::squeeze(tensor, dim), tensor, "SqueezeBackward1");
}

Tensor squeeze(const Tensor& tensor) {
  const OperatorScope scope("squeeze", tensor);
  tensor::check_defined("squeeze", {&tensor});
  Tensor view = tensor;
  for (std::int64_t dim = tensor.dim(); dim-- > 0;) view = tensor::squeeze(view, dim);
  return reshaped(std::move(view), tensor, "SqueezeBackward0");
}

Tensor expand_as(const Tensor& tensor, const Tensor& other) {
  const tensor::CalledOperator called("expand_as");
  return distrun::expand(tensor, other.sizes());
}

Tensor view_as(const Tensor& tensor, const Tensor& other) {
  const tensor::CalledOperator called("view_as");
  return distrun::view(tensor, other.sizes());
}

Tensor narrow(const Tensor& tensor, std::int64_t dim, std::int64_t start, std::int64_t length) {
  const OperatorScope scope("narrow", tensor);
  const auto formula = [&] {
    const std::int64_t along = wrapped_dim("narrow", dim, tensor);
    const std::int64_t from = start < 0 ? start + tensor.size(along) : start;
    return PiecesBackward{"SliceBackward0", tensor.sizes(), along, {{from, length}}};
  };
  return recorded(tensor::narrow(tensor, dim, start, length), tensor, formula);
}

Tensor select(const Tensor& tensor, std::int64_t dim, std::int64_t index) {
  const OperatorScope scope("select", tensor);
  if (tensor.defined() && tensor.is_sparse()) return select_sparse(tensor, dim, index);
  const auto formula = [&] {
    return PiecesBackward{"SelectBackward0", tensor.sizes(), wrapped_dim("select", dim, tensor), {{index, 1, true}}};
  };
  return recorded(tensor::select_view(tensor, dim, index), tensor, formula);
}

TensorList split(const Tensor& tensor, std::int64_t size, std::int64_t dim) {
  const OperatorScope scope("split", tensor);
  TensorList parts = tensor::split(tensor, size, dim);
  return pieces_of(tensor, std::move(parts), wrapped_dim("split", dim, tensor), "SplitBackward0");
}

TensorList split(const Tensor& tensor, const Dims& sizes, std::int64_t dim) {
  const OperatorScope scope("split", tensor);
  TensorList parts = tensor::split(tensor, sizes, dim);
  return pieces_of(tensor, std::move(parts), wrapped_dim("split", dim, tensor), "SplitWithSizesBackward0");
}

TensorList chunk(const Tensor& tensor, std::int64_t chunks, std::int64_t dim) {
  const tensor::CalledOperator called("chunk");
  if (chunks < 1) tensor::refuse("chunk", "there must be 1 part or more, not " + std::to_string(chunks), {&tensor});
  const std::int64_t size = tensor.size(dim);
  return distrun::split(tensor, std::max<std::int64_t>((size + chunks - 1) / chunks, 1), dim);
}

TensorList unbind(const Tensor& tensor, std::int64_t dim) {
  const tensor::CalledOperator called("unbind");
  TensorList parts;
  for (std::int64_t i = 0; i < tensor.size(dim); ++i) parts.push_back(distrun::select(tensor, dim, i));
  return parts;
}

}  // namespace distrun
