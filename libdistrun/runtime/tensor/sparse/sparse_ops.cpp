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

// Operators on values, which are dense. The values are first converted to the sparse tensors' common dtype: values have
// one dimension more, so their own promotion could differ.
constexpr BinaryOp kMul{"mul", kernels::Binary::Mul};
constexpr BinaryOp kDiv{"div", kernels::Binary::Div, true};
constexpr UnaryOp kNeg{"neg", kernels::Unary::Neg};

void check_same_sizes(const char* op, const Tensor& a, const Tensor& b) {
  check_same_device(op, {&a, &b});
  if (a.sizes() != b.sizes()) refuse(op, "sizes must be the same, since one is sparse", {&a, &b});
}

// Checks that both are sparse, with the same number of sparse dimensions.
void check_same_kind(const char* op, const Tensor& a, const Tensor& b) {
  check_same_sizes(op, a, b);
  if (sparse_dim(a) != sparse_dim(b)) {
    refuse(op,
           "as many sparse dimensions are needed in both, but got " + std::to_string(sparse_dim(a)) + " and " +
               std::to_string(sparse_dim(b)),
           {&a, &b});
  }
}

Tensor values_as(const Tensor& tensor, DType dtype) { return to(sparse(tensor).values, dtype); }

// Keeps the dtype.
Tensor scaled(const Tensor& values, const Scalar& factor) {
  return factor == Scalar(1) ? values : to(binary(kMul, values, factor), values.dtype());
}

Tensor with_values(const Tensor& tensor, const Tensor& values) {
  const SparseParts& parts = sparse(tensor);
  return sparse_coo_unchecked(parts.indices, values, tensor.sizes(), parts.coalesced);
}

// Replaces the entries in place, for the tensor and all that share its parts.
void replace(const char* op, const Tensor& tensor, const Tensor& result) {
  check_castable(op, result.dtype(), tensor);
  static_cast<const SparseImpl&>(*tensor.impl()).parts->replace(sparse(to(result, tensor.dtype())));
}

// `out` is dense and contiguous. Does not bump its version.
Tensor with_entries_added(const Tensor& out, const Tensor& tensor, const Scalar& alpha) {
  add_rows_(rows_by_place(out, sparse_dim(tensor)), places_on_device(tensor), values_as(tensor, out.dtype()), alpha);
  return out;
}

Tensor add_sparse_to_dense(const Tensor& dense, const Tensor& tensor, const Scalar& alpha) {
  return with_entries_added(clone(to(dense, result_type(dense, tensor))), tensor, alpha);
}

Tensor add_dense_to_sparse(const Tensor& tensor, const Tensor& dense, const Scalar& alpha) {
  return with_entries_added(clone(scaled(to(dense, result_type(tensor, dense)), alpha)), tensor, 1);
}

Tensor add_sparse_to_sparse(const char* op, const Tensor& a, const Tensor& b, const Scalar& alpha) {
  check_same_kind(op, a, b);
  const DType dtype = result_type(a, b);
  const Tensor values = cat({values_as(a, dtype), scaled(values_as(b, dtype), alpha)}, 0);
  const Tensor sum = sparse_coo_unchecked(cat({sparse(a).indices, sparse(b).indices}, 1), values, a.sizes(), false);
  return is_coalesced(a) && is_coalesced(b) ? coalesce(sum) : sum;
}

// The places where both have entries, with the entry numbers in a and b.
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

Tensor mul_sparse_by_sparse(const char* op, const Tensor& left, const Tensor& right) {
  check_same_kind(op, left, right);
  const DType dtype = result_type(left, right);
  const Tensor a = coalesce(left), b = coalesce(right);
  const Common common = common_of(places_of(a), places_of(b));
  const Tensor values =
      binary(kMul, to(taken(sparse(a).values, common.of_a), dtype), to(taken(sparse(b).values, common.of_b), dtype));
  return sparse_coo_unchecked(indices_of(common.places, sparse_sizes(a), a.device()), values, a.sizes(), true);
}

Tensor mul_sparse_by_dense(const char* op, const Tensor& a, const Tensor& dense) {
  const DType dtype = result_type(a, dense);
  if (dense.dim() == 0) return with_values(a, binary(kMul, values_as(a, dtype), to(dense, dtype)));
  check_same_sizes(op, a, dense);
  const Tensor factors = take_rows(rows_by_place(dense, sparse_dim(a)), places_on_device(a));
  return with_values(a, binary(kMul, values_as(a, dtype), to(factors, dtype)));
}

Tensor mul_tensors(const char* op, const Tensor& a, const Tensor& b) {
  if (a.is_sparse() && b.is_sparse()) return mul_sparse_by_sparse(op, a, b);
  return a.is_sparse() ? mul_sparse_by_dense(op, a, b) : mul_sparse_by_dense(op, b, a);
}

Tensor div_by_number(const char* op, const Tensor& a, const Tensor& b) {
  if (b.is_sparse() || b.dim() != 0) {
    refuse(op, "a sparse tensor is divided by a number or a tensor without dimensions only", {&a, &b});
  }
  const DType dtype = result_type(a, b);
  return with_values(a, binary(kDiv, values_as(a, dtype), to(b, dtype)));
}

}  // namespace

Tensor add_sparse(const char* op, const Tensor& a, const Tensor& b, const Scalar& alpha) {
  if (a.is_sparse() && b.is_sparse()) return add_sparse_to_sparse(op, a, b, alpha);
  check_same_sizes(op, a, b);
  return b.is_sparse() ? add_sparse_to_dense(a, b, alpha) : add_dense_to_sparse(a, b, alpha);
}

void add_sparse_(const char* op, const Tensor& a, const Tensor& b, const Scalar& alpha) {
  if (!b.is_sparse()) refuse(op, "a dense tensor cannot be added to a sparse one in place", {&a, &b});
  check_castable(op, result_type(a, b), a);
  if (a.is_sparse()) return replace(op, a, add_sparse_to_sparse(op, a, b, alpha));
  check_same_sizes(op, a, b);
  check_writable(op, a);
  copy_(a, add_sparse_to_dense(a, b, alpha));
}

Tensor mul_sparse(const Tensor& a, const Tensor& b) { return mul_tensors("mul", a, b); }
Tensor mul_sparse(const Tensor& a, const Scalar& b) { return with_values(a, binary(kMul, sparse(a).values, b)); }

void mul_sparse_(const Tensor& a, const Tensor& b) {
  if (!a.is_sparse()) refuse("mul_", "a dense tensor cannot be multiplied by a sparse one in place", {&a, &b});
  replace("mul_", a, mul_tensors("mul_", a, b));
}
void mul_sparse_(const Tensor& a, const Scalar& b) { replace("mul_", a, mul_sparse(a, b)); }

Tensor div_sparse(const Tensor& a, const Tensor& b) { return div_by_number("div", a, b); }
Tensor div_sparse(const Tensor& a, const Scalar& b) { return with_values(a, binary(kDiv, sparse(a).values, b)); }

void div_sparse_(const Tensor& a, const Tensor& b) { replace("div_", a, div_by_number("div_", a, b)); }
void div_sparse_(const Tensor& a, const Scalar& b) { replace("div_", a, div_sparse(a, b)); }

Tensor neg_sparse(const Tensor& a) { return with_values(a, unary(kNeg, sparse(a).values)); }

}  // namespace distrun::tensor
