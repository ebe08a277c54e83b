#pragma once
// The entries of sparse tensors, on the host: which are where. What is put together or looked for by index is found
// here, for all devices; the values stay where they are.
#include <vector>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

// The number of each entry's place, counted row by row over the sparse dimensions; waits for the device. Throws
// Error{InvalidArgument} if somebody has changed the indices in place to some that are out of range.
std::vector<std::int64_t> places_of(const Tensor& sparse);
// The same on the tensor's device, as rows.hpp wants it.
Tensor places_on_device(const Tensor& sparse);
// Indices [sparse_dim, n] of those places.
Tensor indices_of(const std::vector<std::int64_t>& places, const Dims& sparse_sizes, Device device);
// Indices with one more row, which stands at `dim` and is that number throughout.
Tensor with_index(const Tensor& indices, std::int64_t dim, std::int64_t number);
// The sizes of the sparse dimensions.
Dims sparse_sizes(const Tensor& sparse);
// As a matrix of rows: a dense tensor of the same sizes, seen by places. A view if that is possible.
Tensor rows_by_place(const Tensor& dense, std::int64_t sparse_dim);
// Places, or numbers of entries, where kernels can read them.
Tensor on_device(const std::vector<std::int64_t>& numbers, Device device);

}  // namespace distrun::tensor
