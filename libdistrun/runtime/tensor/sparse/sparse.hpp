#pragma once
// Creates sparse tensors (sparse_parts.hpp describes them) and converts them.
#include <distrun/runtime/tensor/core/sparse_parts.hpp>
#include <distrun/runtime/tensor/sparse/coalesce.hpp>

namespace distrun::tensor {

namespace plain {

// Shares both tensors. Throws Error{InvalidArgument} for shapes that do not fit and for indices out of range (on a GPU
// this waits for the indices).
Tensor sparse_coo(const Tensor& indices, const Tensor& values, const Dims& sizes);
// Uses the smallest sizes that hold the indices.
Tensor sparse_coo(const Tensor& indices, const Tensor& values);

// Returns a dense tensor, in which entries of the same index are added up; a dense tensor itself.
Tensor to_dense(const Tensor& sparse);
// Returns the elements of a dense tensor where `like` has entries, as a sparse tensor with the same indices.
Tensor sparse_mask(const Tensor& dense, const Tensor& like);
// Returns the entries with that index in a sparse dimension, without the dimension. Unlike a view it has separate
// bytes. Waits for the device.
Tensor select_sparse(const Tensor& sparse, std::int64_t dim, std::int64_t index);
// Returns a view of a dense tensor (select_view()), and select_sparse() of a sparse one.
Tensor select(const Tensor& tensor, std::int64_t dim, std::int64_t index);

}  // namespace plain
}  // namespace distrun::tensor
