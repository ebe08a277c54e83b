#pragma once
// What is made of sparse tensors (sparse_parts.hpp says what they are), and of what.
#include <distrun/runtime/tensor/core/sparse_parts.hpp>
#include <distrun/runtime/tensor/sparse/coalesce.hpp>

namespace distrun::tensor {

namespace plain {

// Shares both. Throws Error{InvalidArgument} for shapes that don't fit and for indices out of range (on a GPU that
// waits for them).
Tensor sparse_coo(const Tensor& indices, const Tensor& values, const Dims& sizes);
// The least sizes that hold the indices.
Tensor sparse_coo(const Tensor& indices, const Tensor& values);

Tensor to_dense(const Tensor& sparse);
// The elements of a dense tensor where `like` has entries, as a sparse one with the same indices.
Tensor sparse_mask(const Tensor& dense, const Tensor& like);
// The entries whose index in a sparse dimension is that, without the dimension. Other than views it has bytes of its
// own. Waits for the device.
Tensor select_sparse(const Tensor& sparse, std::int64_t dim, std::int64_t index);
// Of a dense one a view (select_view()), of a sparse one select_sparse().
Tensor select(const Tensor& tensor, std::int64_t dim, std::int64_t index);

}  // namespace plain
}  // namespace distrun::tensor
