#include <distrun/runtime/tensor/sparse/sparse_ops.hpp>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/pointwise.hpp>
#include <distrun/runtime/tensor/core/promotion.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/operators/arithmetic.hpp>
#include <distrun/runtime/tensor/operators/joining.hpp>
#include <distrun/runtime/tensor/operators/rows.hpp>
#include <distrun/runtime/tensor/sparse/sparse.hpp>
#include <distrun/runtime/tensor/sparse/sparse_entries.hpp>

namespace distrun::tensor {
namespace {

// Of values, which are dense.
constexpr BinaryOp kMul{"mul", kernels::Binary::Mul};
constexpr BinaryOp kDiv{"div", kernels::Binary::Div, true};

void check_same_sizes(const char* op, const Tensor& a, const Tensor& b) {
  check_same_device(op, {&a, &b});
  if (a.sizes() != b.sizes()) refuse(op, "sizes must be the same, since one is sparse", {&a, &b});
}

// Both sparse, with the same number of sparse dimensions.
void check_same_kind(const char* op, const Tensor& a, const Tensor& b) {
  check_same_sizes(op, a, b);
  if (sparse_dim(a) != sparse_dim(b)) {
    refuse(op,
           "as many sparse dimensions are needed in both, but got " + std::to_string(sparse_dim(a)) + " and " +
               std::to_string(sparse_dim(b)),
           {&a, &b});
  }
}

Tensor scaled(const Tensor& values, const Scalar& factor) {
  return factor == Scalar(1) ? values : binary(kMul, values, factor);
}

Tensor with_values(const Tensor& tensor, const Tensor& values) {
  const SparseParts& parts = sparse(tensor);
  return sparse_coo_unchecked(parts.indices, values, tensor.sizes(), parts.coalesced);
}

// In place: the tensor and those that share its parts have the new entries.
void replace(const char* op, const Tensor& tensor, const Tensor& result) {
  if (result.dtype() != tensor.dtype()) {
    refuse(op, "result type " + std::string(name_of(result.dtype())) + " is not the output's", {&tensor});
  }
  SparseParts& parts = *static_cast<const SparseImpl&>(*tensor.impl()).parts;
  parts.indices = sparse(result).indices;
  parts.values = sparse(result).values;
  parts.coalesced = sparse(result).coalesced;
  tensor.bump_version();
}

Tensor add_sparse_to_dense(const Tensor& dense, const Tensor& sparse_tensor, const Scalar& alpha) {
  const DType dtype = result_type(dense, sparse_tensor);
  const Tensor out = clone(to(dense, dtype));
  add_rows_(rows_by_place(out, sparse_dim(sparse_tensor)), places_on_device(sparse_tensor),
            to(sparse(sparse_tensor).values, dtype), alpha);
  return out;
}

Tensor add_sparse_to_sparse(const Tensor& a, const Tensor& b, const Scalar& alpha) {
  check_same_kind("add", a, b);
  const DType dtype = result_type(a, b);
  const Tensor left = to(sparse(a).values, dtype), right = to(sparse(b).values, dtype);
  const Tensor sum = sparse_coo_unchecked(cat({sparse(a).indices, sparse(b).indices}, 1),
                                          cat({left, scaled(right, alpha)}, 0), a.sizes(), false);
  return is_coalesced(a) && is_coalesced(b) ? coalesce(sum) : sum;
}

// Where both have entries: numbers of entries of a and of b.
struct Common {
  std::vector<std::int64_t> places, of_a, of_b;
};

Common common_of(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  Common common;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) {
      common.places.push_back(a[i]);
      common.of_a.push_back(static_cast<std::int64_t>(i));
      common.of_b.push_back(static_cast<std::int64_t>(j));
    }
    const bool advance_a = a[i] <= b[j], advance_b = b[j] <= a[i];
    i += advance_a ? 1 : 0;
    j += advance_b ? 1 : 0;
  }
  return common;
}

Tensor taken(const Tensor& values, const std::vector<std::int64_t>& entries) {
  return take_rows(values, on_device(entries, values.device()));
}

Tensor mul_sparse_by_sparse(const Tensor& left, const Tensor& right) {
  check_same_kind("mul", left, right);
  const Tensor a = coalesce(left), b = coalesce(right);
  const Common common = common_of(places_of(a), places_of(b));
  const Tensor values = binary(kMul, taken(sparse(a).values, common.of_a), taken(sparse(b).values, common.of_b));
  return sparse_coo_unchecked(indices_of(common.places, sparse_sizes(a), a.device()), values, a.sizes(), true);
}

Tensor mul_sparse_by_dense(const Tensor& a, const Tensor& dense) {
  if (dense.dim() == 0) return with_values(a, binary(kMul, sparse(a).values, dense));
  check_same_sizes("mul", a, dense);
  const Tensor factors = take_rows(rows_by_place(dense, sparse_dim(a)), places_on_device(a));
  return with_values(a, binary(kMul, sparse(a).values, factors));
}

void check_dense_number(const char* op, const Tensor& a, const Tensor& b) {
  if (b.is_sparse() || b.dim() != 0) {
    refuse(op, "a sparse tensor is divided by a number or a tensor without dimensions only", {&a, &b});
  }
}

}  // namespace

Tensor add_sparse(const Tensor& a, const Tensor& b, const Scalar& alpha) {
  if (a.is_sparse() && b.is_sparse()) return add_sparse_to_sparse(a, b, alpha);
  check_same_sizes("add", a, b);
  return b.is_sparse() ? add_sparse_to_dense(a, b, alpha) : add_sparse_to_dense(scaled(b, alpha), a, 1);
}

void add_sparse_(const Tensor& a, const Tensor& b, const Scalar& alpha) {
  if (!a.is_sparse()) {
    check_same_sizes("add_", a, b);
    check_writable("add_", a);
    const Tensor sum = add_sparse_to_dense(a, b, alpha);
    if (is_floating(sum.dtype()) && !is_floating(a.dtype())) {
      refuse("add_", "result type " + std::string(name_of(sum.dtype())) + " can't be cast to the output's", {&a});
    }
    return copy_(a, sum);
  }
  if (!b.is_sparse()) refuse("add_", "a dense tensor cannot be added to a sparse one in place", {&a, &b});
  replace("add_", a, add_sparse_to_sparse(a, b, alpha));
}

Tensor mul_sparse(const Tensor& a, const Tensor& b) {
  if (a.is_sparse() && b.is_sparse()) return mul_sparse_by_sparse(a, b);
  return a.is_sparse() ? mul_sparse_by_dense(a, b) : mul_sparse_by_dense(b, a);
}
Tensor mul_sparse(const Tensor& a, const Scalar& b) { return with_values(a, binary(kMul, sparse(a).values, b)); }

void mul_sparse_(const Tensor& a, const Tensor& b) {
  if (!a.is_sparse()) refuse("mul_", "a dense tensor cannot be multiplied by a sparse one in place", {&a, &b});
  replace("mul_", a, mul_sparse(a, b));
}
void mul_sparse_(const Tensor& a, const Scalar& b) { replace("mul_", a, mul_sparse(a, b)); }

Tensor div_sparse(const Tensor& a, const Tensor& b) {
  check_dense_number("div", a, b);
  return with_values(a, binary(kDiv, sparse(a).values, b));
}
Tensor div_sparse(const Tensor& a, const Scalar& b) { return with_values(a, binary(kDiv, sparse(a).values, b)); }

void div_sparse_(const Tensor& a, const Tensor& b) {
  check_dense_number("div_", a, b);
  replace("div_", a, div_sparse(a, b));
}
void div_sparse_(const Tensor& a, const Scalar& b) { replace("div_", a, div_sparse(a, b)); }

}  // namespace distrun::tensor
