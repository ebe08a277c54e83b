#include <distrun/runtime/tensor/operators/reduce.hpp>

#include <algorithm>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/launch.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/core/walk.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>
#include <distrun/runtime/tensor/sparse/sparse.hpp>

namespace distrun::tensor::plain {
namespace {

DType sum_type(DType dtype) noexcept { return is_floating(dtype) ? dtype : DType::I64; }

// A sum on its way: both have 8 bytes, and all bits 0 are the number 0.
union Sum {
  std::int64_t integer;
  double floating;
};

void store(const Sum& sum, DType dtype, std::byte* out) {
  switch (dtype) {
    case DType::F32: *reinterpret_cast<float*>(out) = static_cast<float>(sum.floating); break;
    case DType::F64: *reinterpret_cast<double*>(out) = sum.floating; break;
    default: *reinterpret_cast<std::int64_t*>(out) = sum.integer;
  }
}

// Sums over the last dimensions of a tensor that was permuted so that those that stay come first. The output is
// contiguous.
struct Summation {
  kernels::Total total;
  kernels::Gather gather;
  DType out_type;
  Dims kept, kept_strides;      // in bytes
  Dims summed, summed_strides;  // in bytes

  void run(const std::byte* in, std::byte* out) const;

 private:
  static constexpr std::int64_t kColumns = 512;  // sums that are on their way at a time: 4 KiB

  void run_rows(const std::byte* in, std::byte* out) const;
  void run_columns(const std::byte* in, std::byte* out) const;
};

// Calls body with the offset of each element of a strided block, row by row.
template <class Body>
void for_each_offset(const Dims& sizes, const Dims& strides, Body body) {
  const std::int64_t count = device::count_of(sizes);
  Dims index(sizes.size(), 0);
  std::int64_t offset = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    body(offset);
    for (std::size_t dim = sizes.size(); dim-- > 0;) {
      offset += strides[dim];
      if (++index[dim] < sizes[dim]) break;
      offset -= strides[dim] * sizes[dim];
      index[dim] = 0;
    }
  }
}

Dims without_last(Dims dims) {
  if (!dims.empty()) dims.erase(dims.size() - 1);
  return dims;
}

// Each sum on its own, along the last summed dimension.
void Summation::run_rows(const std::byte* in, std::byte* out) const {
  const Dims outer = without_last(summed), outer_strides = without_last(summed_strides);
  const std::int64_t count = summed.empty() ? 1 : summed.back();
  const std::int64_t stride = summed.empty() ? 0 : summed_strides.back();
  const std::size_t out_bytes = size_of(out_type);
  for_each_offset(kept, kept_strides, [&](std::int64_t at) {
    Sum sum{0};
    for_each_offset(outer, outer_strides, [&](std::int64_t offset) { total(in + at + offset, stride, count, &sum); });
    store(sum, out_type, out);
    out += out_bytes;
  });
}

// Many sums side by side, along the last dimension that stays, so that memory is read in its order.
void Summation::run_columns(const std::byte* in, std::byte* out) const {
  const Dims outer = without_last(kept), outer_strides = without_last(kept_strides);
  const std::int64_t columns = kept.back(), stride = kept_strides.back();
  const std::size_t out_bytes = size_of(out_type);
  for_each_offset(outer, outer_strides, [&](std::int64_t at) {
    for (std::int64_t first = 0; first < columns; first += kColumns) {
      const std::int64_t count = std::min(kColumns, columns - first);
      Sum sums[kColumns] = {};
      for_each_offset(summed, summed_strides,
                      [&](std::int64_t offset) { gather(in + at + offset + first * stride, stride, count, sums); });
      for (std::int64_t i = 0; i < count; ++i, out += out_bytes) store(sums[i], out_type, out);
    }
  });
}

void Summation::run(const std::byte* in, std::byte* out) const {
  const bool has_short_rows = !summed.empty() && !kept.empty() && kept_strides.back() < summed_strides.back();
  if (has_short_rows) {
    run_columns(in, out);
  } else {
    run_rows(in, out);
  }
}

// Dimensions that go on without a gap become one.
void join(Dims& sizes, Dims& strides) {
  for (std::size_t i = sizes.size(); i-- > 1;) {
    if (strides[i - 1] != strides[i] * sizes[i] && sizes[i - 1] != 1) continue;
    sizes[i] *= sizes[i - 1];
    sizes.erase(i - 1);
    strides.erase(i - 1);
  }
}

Summation summation_of(const StridedImpl& in, const std::vector<bool>& is_summed) {
  const kernels::SumKernels& each = *kernels::table().sums;
  Summation sums{each.total[static_cast<int>(in.dtype)],
                 each.gather[static_cast<int>(in.dtype)],
                 sum_type(in.dtype),
                 {},
                 {},
                 {},
                 {}};
  for (std::size_t i = 0; i < in.sizes.size(); ++i) {
    (is_summed[i] ? sums.summed : sums.kept).push_back(in.sizes[i]);
    (is_summed[i] ? sums.summed_strides : sums.kept_strides)
        .push_back(in.strides[i] * static_cast<std::int64_t>(size_of(in.dtype)));
  }
  join(sums.summed, sums.summed_strides);
  join(sums.kept, sums.kept_strides);
  return sums;
}

Tensor sum_over(const Tensor& tensor, const std::vector<bool>& is_summed, bool keep_dims) {
  const StridedImpl& in = tensor.strided();
  Dims sizes;
  for (std::size_t i = 0; i < in.sizes.size(); ++i) {
    if (!is_summed[i]) sizes.push_back(in.sizes[i]);
    if (is_summed[i] && keep_dims) sizes.push_back(1);
  }
  Tensor out = empty(sizes, {sum_type(in.dtype), in.device});
  if (out.numel() == 0) return out;
  if (in.numel == 0) return zeros(sizes, out.options());
  launch("sum", std::array{writes(out), reads(tensor)},
         [sums = summation_of(in, is_summed)](Addresses data) { sums.run(data[1], data[0]); });
  return out;
}

}  // namespace

Tensor sum(const Tensor& tensor) {
  check_defined("sum", {&tensor});
  if (tensor.is_sparse()) return sum(sparse(tensor).values);
  const StridedImpl& in = tensor.strided();
  if (!in.device.is_cpu() || !in.contiguous) return sum_over(tensor, std::vector<bool>(in.sizes.size(), true), false);
  Tensor out = empty({}, {sum_type(in.dtype), in.device});
  Sum total{0};
  kernels::table().sums->total[static_cast<int>(in.dtype)](in.data, static_cast<std::int64_t>(size_of(in.dtype)),
                                                               in.numel, &total);
  store(total, out.dtype(), out.data());
  return out;
}

Tensor sum(const Tensor& tensor, const Dims& dims, bool keep_dims) {
  check_defined("sum", {&tensor});
  check_dense("sum over dimensions", {&tensor});
  std::vector<bool> is_summed(tensor.sizes().size(), dims.empty());
  for (const std::int64_t dim : dims) {
    const std::size_t at = wrap_dim("sum", dim, tensor.sizes().size());
    if (tensor.dim() == 0) continue;
    if (is_summed[at])
      refuse("sum", "dimension " + std::to_string(at) + " appears twice in " + to_string(dims), {&tensor});
    is_summed[at] = true;
  }
  return sum_over(tensor, is_summed, keep_dims);
}

Tensor sum_to_size(const Tensor& tensor, const Dims& sizes) {
  check_defined("sum_to_size", {&tensor});
  if (tensor.sizes() == sizes) return tensor;
  check_dense("sum_to_size", {&tensor});
  if (!is_expandable(sizes, tensor.sizes()))
    refuse("sum_to_size", "sizes " + to_string(sizes) + " do not stretch to these", {&tensor});
  const std::size_t shift = tensor.sizes().size() - sizes.size();
  std::vector<bool> is_summed(tensor.sizes().size(), true);
  for (std::size_t i = 0; i < sizes.size(); ++i) is_summed[i + shift] = sizes[i] == 1 && tensor.sizes()[i + shift] != 1;
  return view(sum_over(tensor, is_summed, true), sizes);
}

Tensor mean(const Tensor& tensor) {
  check_defined("mean", {&tensor});
  check_floating("mean", tensor);
  return div(sum(tensor), tensor.numel());
}

Tensor all(const Tensor& tensor) {
  check_defined("all", {&tensor});
  check_dense("all", {&tensor});
  return eq(sum(to(tensor, DType::Bool)), tensor.numel());
}

bool equal(const Tensor& a, const Tensor& b) {
  check_defined("equal", {&a, &b});
  check_same_device("equal", {&a, &b});
  if (a.dtype() != b.dtype() || a.sizes() != b.sizes() || a.is_sparse() != b.is_sparse()) return false;
  if (!a.is_sparse()) return sum(eq(a, b)).item_as<std::int64_t>() == a.numel();
  const Tensor left = coalesce(a), right = coalesce(b);
  return equal(sparse(left).indices, sparse(right).indices) && equal(sparse(left).values, sparse(right).values);
}

Tensor mse_loss(const Tensor& input, const Tensor& target) {
  check_defined("mse_loss", {&input, &target});
  if (input.sizes() != target.sizes())
    refuse("mse_loss", "input and target must have the same sizes", {&input, &target});
  const Tensor difference = sub(input, target);
  return mean(mul(difference, difference));
}

}  // namespace distrun::tensor::plain
