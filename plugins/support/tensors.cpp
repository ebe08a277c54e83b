#include "tensors.hpp"

#include <distrun/runtime/autograd/operators/all.hpp>

namespace distrun::suites {
namespace {

// Returns a sparse tensor of size `count` with ones at 0 .. r of its first dimension.
Tensor overlapping(std::int64_t r, std::int64_t count, int sparse_dims, int dense_dims) {
  const std::int64_t entries = r + 1;
  TensorList rows{tensor::arange(entries)};
  Dims sizes{count}, values{entries};
  for (int dim = 0; dim < dense_dims; ++dim) {
    sizes.push_back(2);
    values.push_back(2);
  }
  for (int dim = 1; dim < sparse_dims; ++dim) {
    rows.push_back(zeros({entries}, {DType::I64}));
    sizes.push_back(count);
  }
  return sparse_coo(stack(rows), ones(values), sizes);
}

SparseReduceCase reduce_case(int rank, int world_size, int num_inputs, int sparse_dims, int dense_dims) {
  const std::int64_t count = std::int64_t{world_size} * num_inputs;
  SparseReduceCase made;
  for (int i = 0; i < num_inputs; ++i) {
    made.inputs.push_back(overlapping(std::int64_t{rank} * num_inputs + i, count, sparse_dims, dense_dims));
  }
  Tensor sum = overlapping(0, count, sparse_dims, dense_dims);
  for (std::int64_t r = 1; r < count; ++r) sum = sum + overlapping(r, count, sparse_dims, dense_dims);
  made.outputs.assign(static_cast<std::size_t>(num_inputs), sum);
  return made;
}

}  // namespace

Tensor build_tensor(std::int64_t size, std::optional<double> value, TensorOptions options) {
  return build_multidim_tensor(3, size, value.value_or(static_cast<double>(size)), options);
}

Tensor build_multidim_tensor(std::int64_t dim, std::int64_t dim_size, std::optional<double> value,
                             TensorOptions options) {
  Dims sizes;
  for (std::int64_t i = 0; i < dim; ++i) sizes.push_back(dim_size);
  return full(sizes, value.value_or(static_cast<double>(dim)), options);
}

std::vector<SparseReduceCase> simple_sparse_reduce_cases(int rank, int world_size, int num_inputs) {
  std::vector<SparseReduceCase> cases;
  for (int dims = 1; dims <= 3; ++dims) cases.push_back(reduce_case(rank, world_size, num_inputs, dims, 0));
  for (int dims = 1; dims <= 3; ++dims) cases.push_back(reduce_case(rank, world_size, num_inputs, 1, dims));
  return cases;
}

}  // namespace distrun::suites
