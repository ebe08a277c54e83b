#include <distrun/runtime/autograd/operators/sparse_places.hpp>

#include <algorithm>

#include <distrun/runtime/autograd/operators/formula_operators.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/operators/joining.hpp>
#include <distrun/runtime/tensor/operators/rows.hpp>
#include <distrun/runtime/tensor/sparse/sparse.hpp>
#include <distrun/runtime/tensor/sparse/sparse_entries.hpp>

namespace distrun::autograd {
namespace {

// Reads a sparse tensor at places without a dense copy of it.
Tensor values_of_sparse_at(const Tensor& sparse, const Tensor& places) {
  const Tensor sorted = tensor::coalesce(sparse);
  const Tensor& values = tensor::sparse(sorted).values;
  const std::vector<std::int64_t> there = tensor::places_of(sorted);
  std::vector<std::int64_t> rows;
  for (const std::int64_t place : tensor::places_of(places)) {
    const auto found = std::lower_bound(there.begin(), there.end(), place);
    rows.push_back(found != there.end() && *found == place ? found - there.begin() : std::ssize(there));
  }
  Dims sizes = values.sizes();
  sizes[0] = 1;
  const Tensor with_zero = tensor::cat({values, tensor::zeros(sizes, values.options())}, 0);
  return tensor::take_rows(with_zero, tensor::on_device(rows, values.device()));
}

// The gradient has entries where the row has some.
struct SelectSparseBackward {
  static constexpr const char* kName = "SelectBackward0";
  SavedPlaces row;
  Dims sizes;
  std::int64_t dim, index;

  Gradients apply(const Node& node, Gradients gradients) {
    formula::refuse_recording(node, kNotOfSparse);
    if (!gradients[0].is_sparse()) gradients[0] = entries_at(gradients[0], row.unpack(node));
    const tensor::SparseParts& parts = tensor::sparse(gradients[0]);
    gradients[0] = tensor::sparse_coo_unchecked(tensor::with_index(parts.indices, dim, index), parts.values, sizes,
                                                parts.coalesced);
    return gradients;
  }
  void release() noexcept { row.release(); }
};

}  // namespace

SavedPlaces::SavedPlaces(const Tensor& sparse)
    : indices_(tensor::sparse(sparse).indices),
      sizes_(tensor::sparse_sizes(sparse)),
      is_coalesced_(tensor::is_coalesced(sparse)) {}

Tensor SavedPlaces::unpack(const Node& owner) const {
  const Tensor indices = indices_.unpack(owner);
  const Tensor none = tensor::zeros({1}, {tensor::DType::Bool, indices.device()});
  return tensor::sparse_coo_unchecked(indices, tensor::expand(none, {indices.size(1)}), sizes_, is_coalesced_);
}

Tensor values_at(const Tensor& tensor, const Tensor& places) {
  const std::int64_t dims = tensor::sparse_dim(places);
  if (tensor.is_sparse() && tensor::sparse_dim(tensor) == dims) return values_of_sparse_at(tensor, places);
  return tensor::take_rows(tensor::rows_by_place(tensor::to_dense(tensor), dims), tensor::places_on_device(places));
}

Tensor entries_at(const Tensor& dense, const Tensor& places) {
  const Tensor once = tensor::coalesce(places);
  return tensor::sparse_coo_unchecked(tensor::sparse(once).indices, values_at(dense, once), dense.sizes(), true);
}

Tensor select_sparse(const Tensor& sparse, std::int64_t dim, std::int64_t index) {
  Tensor result = tensor::select_sparse(sparse, dim, index);
  if (!needs_gradient(sparse)) return result;
  const auto along = static_cast<std::int64_t>(tensor::wrap_dim("select", dim, sparse.sizes().size()));
  const std::int64_t position = index < 0 ? index + sparse.size(along) : index;
  SelectSparseBackward formula{SavedPlaces(result), sparse.sizes(), along, position};
  return with_history(std::move(result), record(std::move(formula), sparse));
}

}  // namespace distrun::autograd
