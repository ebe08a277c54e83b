#include <distrun/runtime/tensor/sparse/sparse.hpp>

#include <algorithm>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/operators/joining.hpp>
#include <distrun/runtime/tensor/operators/rows.hpp>
#include <distrun/runtime/tensor/sparse/sparse_entries.hpp>

namespace distrun::tensor {

namespace plain {
namespace {

void check_parts(const Tensor& indices, const Tensor& values) {
  check_defined("sparse_coo", {&indices, &values});
  check_dense("sparse_coo", {&indices, &values});
  check_same_device("sparse_coo", {&indices, &values});
  const bool fit =
      indices.dtype() == DType::I64 && indices.dim() == 2 && values.dim() >= 1 && indices.size(1) == values.size(0);
  if (!fit) refuse("sparse_coo", "int64 indices [dimensions, n] and values [n, ...] are needed", {&indices, &values});
}

void check_sizes(const Tensor& indices, const Tensor& values, const Dims& sizes) {
  const auto sparse_count = static_cast<std::size_t>(indices.size(0));
  const auto dense = values.sizes().span().subspan(1);
  const bool fit = sizes.size() == sparse_count + dense.size() &&
                   std::equal(dense.begin(), dense.end(), sizes.span().subspan(sparse_count).begin());
  if (!fit) refuse("sparse_coo", "the parts do not fit sizes " + to_string(sizes), {&indices, &values});
  for (std::size_t dim = 0; dim < sparse_count; ++dim) {
    check_rows("sparse_coo", select_view(indices, 0, static_cast<std::int64_t>(dim)), sizes[dim]);
  }
}

}  // namespace

Tensor sparse_coo(const Tensor& indices, const Tensor& values, const Dims& sizes) {
  check_parts(indices, values);
  check_sizes(indices, values, sizes);
  return sparse_coo_unchecked(indices, values, sizes, values.size(0) < 2);
}

Tensor sparse_coo(const Tensor& indices, const Tensor& values) {
  check_parts(indices, values);
  Dims sizes;
  for (std::int64_t dim = 0; dim < indices.size(0); ++dim) {
    const std::vector<std::int64_t> row = to_vector<std::int64_t>(select_view(indices, 0, dim));
    const std::int64_t largest = row.empty() ? -1 : *std::max_element(row.begin(), row.end());
    if (largest == INT64_MAX) refuse("sparse_coo", "no size holds index " + std::to_string(largest), {&indices});
    sizes.push_back(largest + 1);
  }
  for (const std::int64_t size : values.sizes().span().subspan(1)) sizes.push_back(size);
  return sparse_coo(indices, values, sizes);
}

Tensor to_dense(const Tensor& tensor) {
  check_defined("to_dense", {&tensor});
  if (!tensor.is_sparse()) return tensor;
  const Tensor out = zeros(tensor.sizes(), tensor.options());
  add_rows_(rows_by_place(out, sparse_dim(tensor)), places_on_device(tensor), sparse(tensor).values);
  return out;
}

Tensor sparse_mask(const Tensor& dense, const Tensor& like) {
  check_defined("sparse_mask", {&dense, &like});
  check_dense("sparse_mask", {&dense});
  check_same_device("sparse_mask", {&dense, &like});
  const SparseParts& parts = sparse(like);
  if (dense.sizes() != like.sizes()) refuse("sparse_mask", "both must have the same sizes", {&dense, &like});
  return sparse_coo_unchecked(parts.indices, take_rows(rows_by_place(dense, sparse_dim(like)), places_on_device(like)),
                              like.sizes(), parts.coalesced);
}

Tensor select_sparse(const Tensor& tensor, std::int64_t dim, std::int64_t index) {
  const SparseParts& parts = sparse(tensor);
  const std::size_t at = wrap_dim("select", dim, tensor.sizes().size());
  const std::int64_t size = tensor.sizes()[at], sparse_dims = sparse_dim(tensor);
  if (static_cast<std::int64_t>(at) >= sparse_dims) refuse("select", "not along a dense dimension", {&tensor});
  if (index < -size || index >= size) refuse_index("select", index, at, tensor);
  const std::int64_t wanted = index < 0 ? index + size : index;
  const auto row = static_cast<std::int64_t>(at);
  const std::vector<std::int64_t> numbers = to_vector<std::int64_t>(select_view(parts.indices, 0, row));
  std::vector<std::int64_t> entries;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == wanted) entries.push_back(static_cast<std::int64_t>(i));
  }
  const Tensor taken = on_device(entries, tensor.device());
  const Tensor others =
      cat({narrow(parts.indices, 0, 0, row), narrow(parts.indices, 0, row + 1, sparse_dims - row - 1)}, 0);
  Dims sizes = tensor.sizes();
  sizes.erase(at);
  return sparse_coo_unchecked(contiguous(t(take_rows(t(others), taken))), take_rows(parts.values, taken), sizes,
                              parts.coalesced);
}

Tensor select(const Tensor& tensor, std::int64_t dim, std::int64_t index) {
  return tensor.defined() && tensor.is_sparse() ? select_sparse(tensor, dim, index) : select_view(tensor, dim, index);
}

}  // namespace plain
}  // namespace distrun::tensor
