#include <distrun/runtime/collectives/sparse_all_reduce.hpp>

#include <algorithm>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/collectives/objects.hpp>
#include <distrun/runtime/tensor/ops.hpp>

namespace distrun::collectives {
namespace {

constexpr char kName[] = "all_reduce of sparse tensors";

constexpr std::int64_t kEntriesMost = std::int64_t{1} << 27;  // bounds memory that other ranks request

[[noreturn]] void refuse(const std::string& why, base::Location site) {
  throw Error(ErrorKind::InvalidArgument, "ValueError", std::string(kName) + ": " + why, site);
}

// Returns the number of entries, then what must be the same on all ranks: dtype, sparse dimensions, sizes.
std::vector<std::int64_t> description_of(const Tensor& sparse) {
  std::vector<std::int64_t> all{tensor::nnz(sparse), static_cast<std::int64_t>(sparse.dtype()),
                                tensor::sparse_dim(sparse)};
  all.insert(all.end(), sparse.sizes().begin(), sparse.sizes().end());
  return all;
}

bool is_alike(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  return a.size() == b.size() && !a.empty() && std::equal(a.begin() + 1, a.end(), b.begin() + 1);
}

// Concatenates the parts of all ranks along `dim`, where they have `counts` entries.
Tensor gather_along(ProcessGroup& group, const Tensor& own, std::int64_t dim, const std::vector<std::int64_t>& counts,
                    base::Location site) {
  Dims sizes = own.sizes();
  sizes[static_cast<std::size_t>(dim)] = *std::max_element(counts.begin(), counts.end());
  const Tensor padded = tensor::zeros(sizes, own.options());
  tensor::copy_(tensor::narrow(padded, dim, 0, own.size(dim)), own);
  TensorList all, trimmed;
  for (std::size_t i = 0; i < counts.size(); ++i) all.push_back(tensor::empty_like(padded));
  group.all_gather(all, padded, {}, site);
  for (std::size_t i = 0; i < counts.size(); ++i) trimmed.push_back(tensor::narrow(all[i], dim, 0, counts[i]));
  return tensor::cat(trimmed, dim);
}

}  // namespace

Tensor all_reduce_sparse(ProcessGroup& group, const Tensor& sparse, ReduceOp op, base::Location site) {
  if (!sparse.defined() || !sparse.is_sparse()) refuse("the tensor is not sparse", site);
  if (op != ReduceOp::Sum) refuse("unsupported reduction operation: only sums are supported", site);
  const std::vector<std::int64_t> own = description_of(sparse);
  std::vector<std::int64_t> counts;
  for (const std::vector<std::int64_t>& each : all_gather_object(group, own, site)) {
    if (!is_alike(each, own)) {
      const std::string rank = std::to_string(group.ranks()[counts.size()]);
      refuse("rank " + rank + "'s tensor has another dtype, other sizes or other sparse dimensions than " +
                 tensor::describe(sparse),
             site);
    }
    if (each.front() < 0 || each.front() > kEntriesMost) {
      refuse("rank " + std::to_string(group.ranks()[counts.size()]) + " has " + std::to_string(each.front()) +
                 " entries, and at most " + std::to_string(kEntriesMost) +
                 " are allowed; coalesce them, or reduce a dense tensor",
             site);
    }
    counts.push_back(each.front());
  }
  const tensor::SparseParts& parts = tensor::sparse(sparse);
  const Tensor indices = gather_along(group, parts.indices, 1, counts, site);
  const Tensor values = gather_along(group, parts.values, 0, counts, site);
  // The other ranks' indices are checked before anything is read or written with them.
  return tensor::coalesce(tensor::sparse_coo(indices, values, sparse.sizes()));
}

}  // namespace distrun::collectives
