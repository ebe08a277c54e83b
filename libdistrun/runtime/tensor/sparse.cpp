#include <distrun/runtime/tensor/sparse.hpp>

#include <algorithm>

#include <distrun/common/base/check.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/copy.hpp>
#include <distrun/runtime/tensor/elementwise.hpp>
#include <distrun/runtime/tensor/factories.hpp>
#include <distrun/runtime/tensor/joining.hpp>
#include <distrun/runtime/tensor/rows.hpp>
#include <distrun/runtime/tensor/shape.hpp>
#include <distrun/runtime/tensor/sparse_entries.hpp>
#include <distrun/runtime/tensor/views.hpp>

namespace distrun::tensor {

SparseImpl::SparseImpl(Ref<SparseParts> shared, Dims sizes_)
    : TensorImpl(Layout::Sparse, shared->values.dtype(), shared->values.device(), sizes_, Shape(sizes_).numel),
      parts(std::move(shared)) {}

const SparseParts& sparse(const Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_sparse()) {
    throw Error(ErrorKind::InvalidArgument, "a sparse tensor is needed, and this one is " + describe(tensor));
  }
  return *static_cast<const SparseImpl&>(*tensor.impl()).parts;
}

std::int64_t nnz(const Tensor& tensor) { return sparse(tensor).values.size(0); }
std::int64_t sparse_dim(const Tensor& tensor) { return sparse(tensor).indices.size(0); }
bool is_coalesced(const Tensor& tensor) { return sparse(tensor).coalesced; }

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
    check_rows("sparse_coo", select(indices, 0, static_cast<std::int64_t>(dim)), sizes[dim]);
  }
}

// Which entries are at one place.
struct Groups {
  std::vector<std::int64_t> places;   // of each group, in their order
  std::vector<std::int64_t> members;  // for each entry the number of its group
};

// In time that goes with the number of all places.
Groups grouped_by_counting(const std::vector<std::int64_t>& entries, std::int64_t all_places) {
  Groups groups;
  std::vector<std::int64_t> group_of(static_cast<std::size_t>(all_places), -1);
  for (const std::int64_t place : entries) group_of[static_cast<std::size_t>(place)] = 0;
  for (std::int64_t place = 0; place < all_places; ++place) {
    std::int64_t& group = group_of[static_cast<std::size_t>(place)];
    if (group < 0) continue;
    group = static_cast<std::int64_t>(groups.places.size());
    groups.places.push_back(place);
  }
  for (const std::int64_t place : entries) groups.members.push_back(group_of[static_cast<std::size_t>(place)]);
  return groups;
}

Groups grouped_by_sorting(const std::vector<std::int64_t>& entries) {
  std::vector<std::pair<std::int64_t, std::size_t>> sorted;  // place and number of each entry
  for (const std::int64_t place : entries) sorted.emplace_back(place, sorted.size());
  std::sort(sorted.begin(), sorted.end());
  Groups groups{{}, std::vector<std::int64_t>(entries.size())};
  for (const auto& [place, entry] : sorted) {
    if (groups.places.empty() || groups.places.back() != place) groups.places.push_back(place);
    groups.members[entry] = static_cast<std::int64_t>(groups.places.size()) - 1;
  }
  return groups;
}

// `entries`: the place of each, of so many places.
Groups grouped(const std::vector<std::int64_t>& entries, std::int64_t all_places) {
  constexpr std::int64_t kPlacesForEntry = 8;  // up to which counting is faster
  const bool are_dense = all_places / kPlacesForEntry <= static_cast<std::int64_t>(entries.size());
  return are_dense ? grouped_by_counting(entries, all_places) : grouped_by_sorting(entries);
}

Tensor on_device(const std::vector<std::int64_t>& numbers, Device device) {
  return from_values(std::span<const std::int64_t>(numbers), {static_cast<std::int64_t>(numbers.size())}, device);
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
    const std::vector<std::int64_t> row = to_vector<std::int64_t>(select(indices, 0, dim));
    sizes.push_back(row.empty() ? 0 : *std::max_element(row.begin(), row.end()) + 1);
  }
  for (const std::int64_t size : values.sizes().span().subspan(1)) sizes.push_back(size);
  return sparse_coo(indices, values, sizes);
}

Tensor sparse_coo_unchecked(Tensor indices, Tensor values, const Dims& sizes, bool coalesced) {
  return Tensor(make_ref<SparseImpl>(make_ref<SparseParts>(std::move(indices), std::move(values), coalesced), sizes));
}

Tensor empty_sparse(const Dims& sizes, TensorOptions options, std::int64_t sparse_dim) {
  DISTRUN_ASSERT(static_cast<std::size_t>(sparse_dim) <= sizes.size());
  Dims of_values{0};
  for (const std::int64_t size : sizes.span().subspan(static_cast<std::size_t>(sparse_dim))) of_values.push_back(size);
  return sparse_coo_unchecked(empty({sparse_dim, 0}, {DType::I64, options.device}), empty(of_values, options), sizes,
                              true);
}

Tensor coalesce(const Tensor& tensor) {
  const SparseParts& parts = sparse(tensor);
  if (parts.coalesced) return tensor;
  const Groups groups = grouped(places_of(tensor), device::count_of(sparse_sizes(tensor)));
  Dims sizes = parts.values.sizes();
  sizes[0] = static_cast<std::int64_t>(groups.places.size());
  const Tensor values = zeros(sizes, parts.values.options());
  add_rows_(values, on_device(groups.members, tensor.device()), parts.values);
  return sparse_coo_unchecked(indices_of(groups.places, sparse_sizes(tensor), tensor.device()), values, tensor.sizes(),
                              true);
}

Tensor to_dense(const Tensor& tensor) {
  check_defined("to_dense", {&tensor});
  if (!tensor.is_sparse()) return tensor;
  const Tensor out = zeros(tensor.sizes(), tensor.options());
  add_rows_(rows_by_place(out, sparse_dim(tensor)), places_on_device(tensor), sparse(tensor).values);
  return out;
}

Tensor sparse_mask(const Tensor& dense, const Tensor& like) {
  check_defined("sparse_mask", {&dense});
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
  const std::vector<std::int64_t> numbers = to_vector<std::int64_t>(select(parts.indices, 0, row));
  std::vector<std::int64_t> entries;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == wanted) entries.push_back(static_cast<std::int64_t>(i));
  }
  const Tensor taken = on_device(entries, tensor.device());
  const Tensor others =
      cat({narrow(parts.indices, 0, 0, row), narrow(parts.indices, 0, row + 1, sparse_dims - row - 1)}, 0);
  Dims sizes = tensor.sizes();
  sizes.erase(at);
  return sparse_coo_unchecked(t(take_rows(t(others), taken)), take_rows(parts.values, taken), sizes, parts.coalesced);
}

}  // namespace plain
}  // namespace distrun::tensor
