#include <distrun/runtime/autograd/operators/sparse.hpp>

#include <distrun/runtime/autograd/operators/sparse_select.hpp>
#include <distrun/runtime/autograd/record.hpp>
#include <distrun/runtime/autograd/scope.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/reshape.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/operators/rows.hpp>
#include <distrun/runtime/tensor/sparse/sparse_entries.hpp>

namespace distrun {
namespace {

using namespace autograd;

struct SparseCooBackward {
  static constexpr const char* kName = "SparseCooTensorWithDimsAndTensorsBackward0";
  SavedTensor result;

  Gradients apply(const Node& node, Gradients gradients) {
    const Tensor made = result.unpack(node);
    const Tensor dense = gradients[0].is_sparse() ? tensor::to_dense(gradients[0]) : gradients[0];
    const Tensor rows = tensor::rows_by_place(dense, tensor::sparse_dim(made));
    gradients[0] =
        tensor::reshape(tensor::take_rows(rows, tensor::places_on_device(made)), tensor::sparse(made).values.sizes());
    return gradients;
  }
  void release() noexcept { result.release(); }
};

struct CoalesceBackward {
  static constexpr const char* kName = "CoalesceBackward0";
  Gradients apply(const Node&, Gradients gradients) { return gradients; }
};

struct ToDenseBackward {
  static constexpr const char* kName = "ToDenseBackward0";
  SavedTensor sparse;

  Gradients apply(const Node& node, Gradients gradients) {
    const Tensor like = sparse.unpack(node);
    if (!gradients[0].is_sparse()) gradients[0] = entries_at(gradients[0], like);
    return gradients;
  }
  void release() noexcept { sparse.release(); }
};

}  // namespace

Tensor sparse_coo(const Tensor& indices, const Tensor& values, const Dims& sizes) {
  const OperatorScope scope("sparse_coo", indices, values);
  Tensor result = tensor::sparse_coo(indices, values, sizes);
  if (!needs_gradient(values)) return result;
  auto node = record(SparseCooBackward{SavedTensor(result, true)}, values);
  return with_history(std::move(result), std::move(node));
}

Tensor coalesce(const Tensor& sparse) {
  const OperatorScope scope("coalesce", sparse);
  Tensor result = tensor::coalesce(sparse);
  if (result.is_same(sparse) || !needs_gradient(sparse)) return result;
  return with_history(std::move(result), record(CoalesceBackward{}, sparse));
}

Tensor to_dense(const Tensor& sparse) {
  if (!sparse.is_sparse()) return sparse;
  const OperatorScope scope("to_dense", sparse);
  Tensor result = tensor::to_dense(sparse);
  if (!needs_gradient(sparse)) return result;
  return with_history(std::move(result), record(ToDenseBackward{SavedTensor(sparse)}, sparse));
}

Tensor indices(const Tensor& sparse) { return tensor::sparse(sparse).indices; }
Tensor values(const Tensor& sparse) { return tensor::sparse(sparse).values; }

}  // namespace distrun
