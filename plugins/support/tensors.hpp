#pragma once
// Tensors that ported tests begin with: what they hold is told by a size and a value.
#include <optional>
#include <utility>
#include <vector>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::suites {

// A cube of `size` elements each way, all of them `value`; that is `size` unless told otherwise.
Tensor build_tensor(std::int64_t size, std::optional<double> value = {}, TensorOptions options = {});
// `dim` dimensions of `dim_size` each, all elements `value`; that is `dim` unless told otherwise.
Tensor build_multidim_tensor(std::int64_t dim, std::int64_t dim_size, std::optional<double> value = {},
                             TensorOptions options = {});

// What a sum over ranks gets and gives: a rank's inputs, and as many results, alike.
struct SparseReduceCase {
  TensorList inputs;
  TensorList outputs;
};
// For sums of sparse tensors over `world_size` ranks with `num_inputs` each: with one, two and three sparse dimensions,
// then with one, two and three dense ones beside one sparse. Tensor r of all w has ones at 0 .. r of its first
// dimension, so any two overlap, and position j of the sum is w - j.
std::vector<SparseReduceCase> simple_sparse_reduce_cases(int rank, int world_size, int num_inputs = 1);

}  // namespace distrun::suites
