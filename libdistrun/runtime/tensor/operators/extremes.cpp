#include <distrun/runtime/tensor/operators/extremes.hpp>

#include <distrun/runtime/tensor/core/empty.hpp>
#include <distrun/runtime/tensor/core/launch.hpp>
#include <distrun/runtime/tensor/core/reshape.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>
#include <distrun/runtime/tensor/operators/reduce.hpp>
#include <distrun/runtime/tensor/operators/reduced_lines.hpp>

namespace distrun::tensor::plain {
namespace {

enum class End : std::uint8_t { Largest, Smallest };

kernels::ExtremesOfLines kernel_of(End end, DType dtype) {
  const kernels::ExtremeKernels& each = *kernels::table().extremes;
  return (end == End::Largest ? each.largest : each.smallest)[static_cast<int>(dtype)];
}

void check_has_any(const char* op, const Tensor& tensor, const ReducedLines& reduced) {
  if (reduced.lines.size > 0) return;
  refuse(op, "there is no element to choose from; the dimensions must have some", {&tensor});
}

Tensor values_over(const char* op, End end, const Tensor& tensor, const Dims& dims, bool keep_dims) {
  const ReducedLines reduced = reduced_lines(op, tensor, dims, keep_dims);
  check_has_any(op, tensor, reduced);
  const Tensor out = empty(reduced.sizes, tensor.options());
  if (out.numel() == 0) return out;
  launch(op, std::array{writes(out), reads(reduced.tensor)},
         [run = kernel_of(end, tensor.dtype()), lines = reduced.lines](Addresses data) {
           run(data[1], data[0], nullptr, lines);
         });
  return out;
}

Tensor places_over(const char* op, End end, const Tensor& tensor, const Dims& dims, bool keep_dims) {
  const ReducedLines reduced = reduced_lines(op, tensor, dims, keep_dims);
  check_has_any(op, tensor, reduced);
  const Tensor out = empty(reduced.sizes, {DType::I64, tensor.device()});
  if (out.numel() == 0) return out;
  launch(op, std::array{writes(out), reads(reduced.tensor)},
         [run = kernel_of(end, tensor.dtype()), lines = reduced.lines](Addresses data) {
           run(data[1], nullptr, as_mutable<std::int64_t>(data[0]), lines);
         });
  return out;
}

Extremes both_along(const char* op, End end, const Tensor& tensor, std::int64_t dim, bool keep_dim) {
  const ReducedLines reduced = reduced_lines(op, tensor, {dim}, keep_dim);
  check_has_any(op, tensor, reduced);
  const Extremes out{empty(reduced.sizes, tensor.options()), empty(reduced.sizes, {DType::I64, tensor.device()})};
  if (out.values.numel() == 0) return out;
  launch(op, std::array{writes(out.values), writes(out.indices), reads(reduced.tensor)},
         [run = kernel_of(end, tensor.dtype()), lines = reduced.lines](Addresses data) {
           run(data[2], data[0], as_mutable<std::int64_t>(data[1]), lines);
         });
  return out;
}

}  // namespace

Tensor max(const Tensor& tensor) { return values_over("max", End::Largest, tensor, {}, false); }
Tensor min(const Tensor& tensor) { return values_over("min", End::Smallest, tensor, {}, false); }

Extremes max_along(const Tensor& tensor, std::int64_t dim, bool keep_dim) {
  return both_along("max", End::Largest, tensor, dim, keep_dim);
}
Extremes min_along(const Tensor& tensor, std::int64_t dim, bool keep_dim) {
  return both_along("min", End::Smallest, tensor, dim, keep_dim);
}

Tensor amax(const Tensor& tensor, const Dims& dims, bool keep_dims) {
  return values_over("amax", End::Largest, tensor, dims, keep_dims);
}
Tensor amin(const Tensor& tensor, const Dims& dims, bool keep_dims) {
  return values_over("amin", End::Smallest, tensor, dims, keep_dims);
}

Tensor argmax(const Tensor& tensor) { return places_over("argmax", End::Largest, tensor, {}, false); }
Tensor argmin(const Tensor& tensor) { return places_over("argmin", End::Smallest, tensor, {}, false); }
Tensor argmax(const Tensor& tensor, std::int64_t dim, bool keep_dim) {
  return places_over("argmax", End::Largest, tensor, {dim}, keep_dim);
}
Tensor argmin(const Tensor& tensor, std::int64_t dim, bool keep_dim) {
  return places_over("argmin", End::Smallest, tensor, {dim}, keep_dim);
}

Tensor extremes_gradient(const Tensor& gradient, const Tensor& input, const Tensor& result, const Dims& dims) {
  const Dims kept = sizes_without(input.sizes(), reduced_dims("extremes_gradient", input, dims), true);
  const Tensor best = reshape(result, kept);
  const Tensor is_best = add(eq(input, best), mul(ne(input, input), ne(best, best)));
  return mul(div(reshape(gradient, kept), sum(is_best, dims, true)), is_best);
}

}  // namespace distrun::tensor::plain
