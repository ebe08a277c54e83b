#include <distrun/runtime/autograd/operators/sparse_select.hpp>

#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/reshape.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/operators/rows.hpp>
#include <distrun/runtime/tensor/sparse/sparse.hpp>
#include <distrun/runtime/tensor/sparse/sparse_entries.hpp>

namespace distrun::autograd {

Tensor select_sparse(const Tensor& sparse, std::int64_t dim, std::int64_t index) {
  const tensor::SparseParts& parts = tensor::sparse(sparse);
  const std::int64_t entries = tensor::nnz(sparse), dims = tensor::sparse_dim(sparse);
  const std::vector<std::int64_t> indices = tensor::to_vector<std::int64_t>(parts.indices);
  const auto index_of = [&](std::int64_t of_dim, std::int64_t entry) {
    return indices[static_cast<std::size_t>(of_dim * entries + entry)];
  };
  std::vector<std::int64_t> chosen, left;
  for (std::int64_t entry = 0; entry < entries; ++entry) {
    if (index_of(dim, entry) == index) chosen.push_back(entry);
  }
  for (std::int64_t of_dim = 0; of_dim < dims; ++of_dim) {
    if (of_dim == dim) continue;
    for (const std::int64_t entry : chosen) left.push_back(index_of(of_dim, entry));
  }
  Dims sizes = sparse.sizes();
  sizes.erase(static_cast<std::size_t>(dim));
  const auto count = static_cast<std::int64_t>(chosen.size());
  const Tensor values =
      tensor::take_rows(parts.values, tensor::from_values<std::int64_t>(chosen, {count}, sparse.device()));
  const Tensor of_left = tensor::from_values<std::int64_t>(left, {dims - 1, count}, sparse.device());
  return tensor::sparse_coo_unchecked(of_left, values, sizes, parts.coalesced);
}

Tensor entries_at(const Tensor& dense, const Tensor& like) {
  const Tensor places = tensor::coalesce(like);
  const std::int64_t dims = tensor::sparse_dim(places);
  const tensor::SparseParts& parts = tensor::sparse(places);
  const Tensor rows = tensor::take_rows(tensor::rows_by_place(dense, dims), tensor::places_on_device(places));
  const Tensor values = tensor::reshape(rows, parts.values.sizes());
  return tensor::sparse_coo_unchecked(parts.indices, values, like.sizes(), true);
}

}  // namespace distrun::autograd
