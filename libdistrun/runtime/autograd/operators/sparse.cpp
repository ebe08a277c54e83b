#include <distrun/runtime/autograd/operators/sparse.hpp>

#include <distrun/runtime/autograd/operators/formula_operators.hpp>
#include <distrun/runtime/autograd/operators/sparse_places.hpp>
#include <distrun/runtime/autograd/scope.hpp>
#include <distrun/runtime/tensor/core/views.hpp>

namespace distrun {
namespace {

using namespace autograd;

struct SparseCooBackward {
  static constexpr const char* kName = "SparseCooTensorWithDimsAndTensorsBackward0";
  SavedPlaces places;

  Gradients apply(const Node& node, Gradients gradients) {
    formula::refuse_recording(node, kNotOfSparse);
    gradients[0] = values_at(gradients[0], places.unpack(node));
    return gradients;
  }
  void release() noexcept { places.release(); }
};

struct CoalesceBackward {
  static constexpr const char* kName = "CoalesceBackward0";
  Gradients apply(const Node&, Gradients gradients) { return gradients; }
};

struct ToDenseBackward {
  static constexpr const char* kName = "ToDenseBackward0";
  SavedPlaces places;

  Gradients apply(const Node& node, Gradients gradients) {
    formula::refuse_recording(node, kNotOfSparse);
    if (!gradients[0].is_sparse()) gradients[0] = entries_at(gradients[0], places.unpack(node));
    return gradients;
  }
  void release() noexcept { places.release(); }
};

}  // namespace

Tensor sparse_coo(const Tensor& indices, const Tensor& values, const Dims& sizes) {
  const OperatorScope scope("sparse_coo", indices, values);
  Tensor result = tensor::sparse_coo(indices, values, sizes);
  if (!needs_gradient(values)) return result;
  auto node = record(SparseCooBackward{SavedPlaces(result)}, values);
  return with_history(std::move(result), std::move(node));
}

Tensor coalesce(const Tensor& sparse) {
  const OperatorScope scope("coalesce", sparse);
  Tensor result = tensor::coalesce(sparse);
  if (result.is_same(sparse) || !needs_gradient(sparse)) return result;
  return with_history(std::move(result), record(CoalesceBackward{}, sparse));
}

Tensor to_dense(const Tensor& sparse) {
  if (sparse.defined() && !sparse.is_sparse()) return sparse;
  const OperatorScope scope("to_dense", sparse);
  Tensor result = tensor::to_dense(sparse);
  if (!needs_gradient(sparse)) return result;
  return with_history(std::move(result), record(ToDenseBackward{SavedPlaces(sparse)}, sparse));
}

Tensor indices(const Tensor& sparse) { return tensor::alias(tensor::sparse(sparse).indices); }
Tensor values(const Tensor& sparse) { return tensor::alias(tensor::sparse(sparse).values); }

}  // namespace distrun
