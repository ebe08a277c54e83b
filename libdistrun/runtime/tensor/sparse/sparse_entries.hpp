#pragma once
// The places of sparse entries, computed on the host for all devices. Operators that merge entries or look them up by
// index use these; the values stay on their device.
#include <vector>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

// Returns each entry's place, numbered row by row over the sparse dimensions; waits for the device. Throws
// Error{InvalidArgument} if the indices were changed in place to some that are out of range.
std::vector<std::int64_t> places_of(const Tensor& sparse);
// The same on the tensor's device, as rows.hpp expects.
Tensor places_on_device(const Tensor& sparse);
// Returns the indices [sparse_dim, n] of those places.
Tensor indices_of(const std::vector<std::int64_t>& places, const Dims& sparse_sizes, Device device);
// Returns indices with an added row at `dim` that is filled with that number.
Tensor with_index(const Tensor& indices, std::int64_t dim, std::int64_t number);
// The sizes of the sparse dimensions.
Dims sparse_sizes(const Tensor& sparse);
// Views a dense tensor of the same sizes as a matrix with one row per place. Copies only if necessary.
Tensor rows_by_place(const Tensor& dense, std::int64_t sparse_dim);
// Copies places or entry numbers to where kernels can read them.
Tensor on_device(const std::vector<std::int64_t>& numbers, Device device);

}  // namespace distrun::tensor
