#pragma once
// The input tensors of ported tests, described by a size and a value.
#include <optional>
#include <utility>
#include <vector>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::suites {

// A cube of `size` elements each way, all equal to `value`, by default `size`.
Tensor build_tensor(std::int64_t size, std::optional<double> value = {}, TensorOptions options = {});
// `dim` dimensions of `dim_size` each, all elements equal to `value`, by default `dim`.
Tensor build_multidim_tensor(std::int64_t dim, std::int64_t dim_size, std::optional<double> value = {},
                             TensorOptions options = {});

// A rank's inputs to a sum over ranks, and the expected results, one for each input.
struct SparseReduceCase {
  TensorList inputs;
  TensorList outputs;
};
// Returns cases for sums of sparse tensors over `world_size` ranks with `num_inputs` each: with one, two and three
// sparse dimensions, then with one, two and three dense ones beside one sparse. Tensor r of all w has ones at 0 .. r of
// its first dimension, so any two overlap, and position j of the sum is w - j.
std::vector<SparseReduceCase> simple_sparse_reduce_cases(int rank, int world_size, int num_inputs = 1);

}  // namespace distrun::suites
