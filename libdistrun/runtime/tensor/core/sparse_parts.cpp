#include <distrun/runtime/tensor/core/sparse_parts.hpp>

#include <distrun/common/base/check.hpp>
#include <distrun/runtime/tensor/core/called_operator.hpp>
#include <distrun/runtime/tensor/core/empty.hpp>

namespace distrun::tensor {

void SparseParts::replace(const SparseParts& result) {
  const std::uint32_t next = version() + 1;
  indices = result.indices;
  values = result.values;
  coalesced = result.coalesced;
  changes_ += next - version();
}

SparseImpl::SparseImpl(Ref<SparseParts> shared, Dims sizes_)
    : TensorImpl(Layout::Sparse, shared->values.dtype(), shared->values.device(), sizes_, Shape(sizes_).numel),
      parts(std::move(shared)) {}

const SparseParts& sparse(const Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_sparse()) {
    refuse("a sparse tensor is required, but this one is " + describe(tensor));
  }
  return *static_cast<const SparseImpl&>(*tensor.impl()).parts;
}

std::int64_t nnz(const Tensor& tensor) { return sparse(tensor).values.size(0); }
std::int64_t sparse_dim(const Tensor& tensor) { return sparse(tensor).indices.size(0); }
bool is_coalesced(const Tensor& tensor) { return sparse(tensor).coalesced; }

void SparseImpl::record_stream(Stream stream) const {
  parts->indices.record_stream(stream);
  parts->values.record_stream(stream);
}

bool SparseImpl::is_used_only_by(Stream stream) const {
  return parts->indices.impl()->is_used_only_by(stream) && parts->values.impl()->is_used_only_by(stream);
}

namespace plain {

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

}  // namespace plain
}  // namespace distrun::tensor
