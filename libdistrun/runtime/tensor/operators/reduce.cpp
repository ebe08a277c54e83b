#include <distrun/runtime/tensor/operators/reduce.hpp>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/launch.hpp>
#include <distrun/runtime/tensor/core/parallel.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/core/walk.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/operators/around.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>
#include <distrun/runtime/tensor/operators/reduced_lines.hpp>
#include <distrun/runtime/tensor/sparse/sparse.hpp>

namespace distrun::tensor::plain {
namespace {

// Elements of a contiguous tensor that are summed at a time.
constexpr std::int64_t kPiece = std::int64_t{1} << 16;

// A partial sum: both members have 8 bytes, and all-zero bits are the number 0.
union Sum {
  std::int64_t integer;
  double floating;
};

// Stores the sums contiguously.
void store(std::span<const Sum> sums, DType dtype, std::byte* out) {
  if (dtype != DType::F32) {
    std::memcpy(out, sums.data(), sums.size_bytes());
    return;
  }
  kernels::table().sums->to_float(&sums.data()->floating, as_mutable<float>(out),
                                  static_cast<std::int64_t>(sums.size()));
}

// Sums over the last dimensions of a tensor that was permuted so that the kept dimensions come first. The output is
// contiguous.
struct Summation {
  // Sums along the last summed dimension, or across the last kept one: whichever follows the memory order.
  kernels::AddSums add;
  bool is_across;
  DType out_type;
  Dims kept, kept_strides;      // strides in bytes; at least one dimension each
  Dims summed, summed_strides;  // strides in bytes

  void run(const std::byte* in, std::byte* out) const;

 private:
  static constexpr std::int64_t kSums = 2048;  // in progress at a time: 16 KiB

  void run_part(const std::byte* in, std::byte* out) const;
  kernels::SumBlock block(const std::byte* in, std::int64_t sums) const;
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
  dims.erase(dims.size() - 1);
  return dims;
}

// `in` is the first of `sums` kept elements.
kernels::SumBlock Summation::block(const std::byte* in, std::int64_t sums) const {
  return is_across ? kernels::SumBlock{in, summed.back(), summed_strides.back(), sums, kept_strides.back()}
                   : kernels::SumBlock{in, sums, kept_strides.back(), summed.back(), summed_strides.back()};
}

// Uses several threads if there is one kept dimension, which is the usual case.
void Summation::run(const std::byte* in, std::byte* out) const {
  const bool is_split = kept.size() == 1 && !(is_across && kept[0] < kernels::kShortLine);
  if (!is_split) return run_part(in, out);
  const std::int64_t elements_each = device::count_of(summed);
  parallel_for(kept[0], (kElementsEach - 1) / elements_each + 1, [&](std::int64_t first, std::int64_t end) {
    Summation part = *this;
    part.kept[0] = end - first;
    part.run_part(in + first * kept_strides[0], out + first * static_cast<std::int64_t>(size_of(out_type)));
  });
}

void Summation::run_part(const std::byte* in, std::byte* out) const {
  const Dims outer = without_last(kept), outer_strides = without_last(kept_strides);
  const Dims above = without_last(summed), above_strides = without_last(summed_strides);
  for_each_offset(outer, outer_strides, [&](std::int64_t at) {
    for (std::int64_t first = 0; first < kept.back(); first += kSums) {
      const std::int64_t count = std::min(kSums, kept.back() - first);
      Sum sums[kSums];
      std::fill_n(sums, count, Sum{0});
      for_each_offset(above, above_strides, [&](std::int64_t offset) {
        add(block(in + at + offset + first * kept_strides.back(), count), sums);
      });
      store({sums, static_cast<std::size_t>(count)}, out_type, out);
      out += static_cast<std::size_t>(count) * size_of(out_type);
    }
  });
}

// Merges dimensions that continue without a gap.
void join(Dims& sizes, Dims& strides) {
  for (std::size_t i = sizes.size(); i-- > 1;) {
    if (strides[i - 1] != strides[i] * sizes[i] && sizes[i - 1] != 1) continue;
    sizes[i] *= sizes[i - 1];
    sizes.erase(i - 1);
    strides.erase(i - 1);
  }
}

Summation summation_of(const StridedImpl& in, const std::vector<bool>& is_summed) {
  Summation sums{nullptr, false, total_type(in.dtype), {}, {}, {}, {}};
  const auto element = static_cast<std::int64_t>(size_of(in.dtype));
  for (std::size_t i = 0; i < in.sizes.size(); ++i) {
    (is_summed[i] ? sums.summed : sums.kept).push_back(in.sizes[i]);
    (is_summed[i] ? sums.summed_strides : sums.kept_strides).push_back(in.strides[i] * element);
  }
  join(sums.summed, sums.summed_strides);
  join(sums.kept, sums.kept_strides);
  sums.is_across = !sums.summed.empty() && !sums.kept.empty() && sums.kept_strides.back() < sums.summed_strides.back();
  for (auto [sizes, strides] : {std::pair(&sums.summed, &sums.summed_strides), {&sums.kept, &sums.kept_strides}}) {
    if (!sizes->empty()) continue;
    sizes->push_back(1);
    strides->push_back(element);
  }
  const kernels::SumKernels& kernels = *kernels::table().sums;
  sums.add = (sums.is_across ? kernels.across_lines : kernels.along_lines)[static_cast<int>(in.dtype)];
  return sums;
}

// sum(first, count) computes one piece's sum independently; the sums are combined in order.
template <class SumOf>
std::vector<Sum> sums_of_pieces(std::int64_t count, const SumOf& sum) {
  std::vector<Sum> sums(static_cast<std::size_t>((count + kPiece - 1) / kPiece));
  parallel_for(static_cast<std::int64_t>(sums.size()), 1, [&](std::int64_t piece, std::int64_t end) {
    for (; piece < end; ++piece) {
      const std::int64_t first = piece * kPiece;
      sums[static_cast<std::size_t>(piece)] = sum(first, std::min(kPiece, count - first));
    }
  });
  return sums;
}

// Sums contiguous elements.
Sum total_of(const std::byte* data, DType dtype, std::int64_t count) {
  const kernels::AddSums add = kernels::table().sums->along_lines[static_cast<int>(dtype)];
  const auto element = static_cast<std::int64_t>(size_of(dtype));
  const auto sum_of = [&](std::int64_t first, std::int64_t size) {
    Sum sum{0};
    add({data + first * element, 1, 0, size, element}, &sum);
    return sum;
  };
  if (count <= kPiece) return sum_of(0, count);
  const bool is_number = is_floating(dtype);
  Sum total{0};
  for (const Sum& sum : sums_of_pieces(count, sum_of)) {
    if (is_number) {
      total.floating += sum.floating;
    } else {
      total.integer = static_cast<std::int64_t>(static_cast<std::uint64_t>(total.integer) +
                                                static_cast<std::uint64_t>(sum.integer));
    }
  }
  return total;
}

Tensor sum_over(const Tensor& tensor, const std::vector<bool>& is_summed, bool keep_dims) {
  const StridedImpl& in = tensor.strided();
  const Dims sizes = sizes_without(in.sizes, is_summed, keep_dims);
  Tensor out = empty(sizes, {total_type(in.dtype), in.device});
  if (out.numel() == 0) return out;
  if (in.numel == 0) return zeros(sizes, out.options());
  launch("sum", std::array{writes(out), reads(tensor)},
         [sums = summation_of(in, is_summed)](Addresses data) { sums.run(data[1], data[0]); });
  return out;
}

// Computes the result in one pass over two tensors of the same form.
Tensor mean_square_difference(const Tensor& a, const Tensor& b) {
  Tensor out = empty({}, a.options());
  const auto add = kernels::table().sums->square_differences[kernels::floating_place(a.dtype())];
  launch("mse_loss", std::array{writes(out), reads(a), reads(b)},
         [add, dtype = a.dtype(), count = a.numel()](Addresses data) {
           const auto element = static_cast<std::int64_t>(size_of(dtype));
           const auto sum_of = [&](std::int64_t first, std::int64_t size) {
             Sum sum{0};
             add(data[1] + first * element, data[2] + first * element, size, &sum.floating);
             return sum;
           };
           Sum total{0};
           for (const Sum& sum : sums_of_pieces(count, sum_of)) total.floating += sum.floating;
           total.floating /= static_cast<double>(count);
           store({&total, 1}, dtype, data[0]);
         });
  return out;
}

}  // namespace

Tensor sum(const Tensor& tensor) {
  check_defined("sum", {&tensor});
  if (tensor.is_sparse()) return sum(sparse(tensor).values);
  const StridedImpl& in = tensor.strided();
  if (in.numel == 0 || !in.contiguous) return sum_over(tensor, std::vector<bool>(in.sizes.size(), true), false);
  Tensor out = empty({}, {total_type(in.dtype), in.device});
  launch("sum", std::array{writes(out), reads(tensor)}, [dtype = in.dtype, count = in.numel](Addresses data) {
    const Sum total = total_of(data[1], dtype, count);
    store({&total, 1}, total_type(dtype), data[0]);
  });
  return out;
}

Tensor sum(const Tensor& tensor, const Dims& dims, bool keep_dims) {
  check_defined("sum", {&tensor});
  check_dense("sum over dimensions", {&tensor});
  return sum_over(tensor, reduced_dims("sum", tensor, dims), keep_dims);
}

Tensor sum_to_size(const Tensor& tensor, const Dims& sizes) {
  check_defined("sum_to_size", {&tensor});
  if (tensor.sizes() == sizes) return tensor;
  check_dense("sum_to_size", {&tensor});
  if (!is_expandable(sizes, tensor.sizes()))
    refuse("sum_to_size", "sizes " + to_string(sizes) + " cannot be expanded to these", {&tensor});
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
  const bool is_simple = !input.is_sparse() && !target.is_sparse() && input.dtype() == target.dtype() &&
                         input.device() == target.device() && is_floating(input.dtype()) && input.numel() > 0;
  if (is_simple) return mean_square_difference(contiguous(input), contiguous(target));
  const Tensor difference = sub(input, target);
  return mean(mul(difference, difference));
}

Tensor mean(const Tensor& tensor, const Dims& dims, bool keep_dims) {
  check_defined("mean", {&tensor});
  check_floating("mean", tensor);
  const Tensor total = sum(tensor, dims, keep_dims);
  return div(total, total.numel() == 0 ? 1 : tensor.numel() / total.numel());
}

Tensor all_along(const Tensor& tensor, std::int64_t dim, bool keep_dim) {
  check_defined("all", {&tensor});
  check_dense("all", {&tensor});
  const std::size_t at = wrap_dim("all", dim, tensor.sizes().size());
  return eq(sum(to(tensor, DType::Bool), Dims{dim}, keep_dim), tensor.dim() == 0 ? 1 : tensor.sizes()[at]);
}

Tensor any(const Tensor& tensor) {
  check_defined("any", {&tensor});
  check_dense("any", {&tensor});
  return ne(sum(to(tensor, DType::Bool)), 0);
}

Tensor any_along(const Tensor& tensor, std::int64_t dim, bool keep_dim) {
  check_defined("any", {&tensor});
  check_dense("any", {&tensor});
  return ne(sum(to(tensor, DType::Bool), Dims{dim}, keep_dim), 0);
}

}  // namespace distrun::tensor::plain
