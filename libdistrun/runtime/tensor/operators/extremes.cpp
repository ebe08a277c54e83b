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

// A search in lines of a contiguous tensor.
struct Search {
  kernels::ExtremesOfLines find;
  std::int64_t element;  // in bytes
  Around lines;

  // Either result may be null.
  void run(const std::byte* in, std::byte* values, std::int64_t* places) const {
    for_parts(lines, [&](std::int64_t first, const kernels::Lines& part) {
      const std::int64_t line = first / lines.size;
      find(in + first * element, values == nullptr ? nullptr : values + line * element,
           places == nullptr ? nullptr : places + line, part);
    });
  }
};
Search search_for(End end, DType dtype, const Around& lines) {
  const kernels::ExtremeKernels& each = *kernels::table().extremes;
  const auto& find = end == End::Largest ? each.largest : each.smallest;
  return {find[static_cast<int>(dtype)], static_cast<std::int64_t>(size_of(dtype)), lines};
}

void check_has_any(const char* op, const Tensor& tensor, const ReducedLines& reduced) {
  if (reduced.lines.size > 0) return;
  refuse(op, "there is no element to choose from; the dimensions must have some", {&tensor});
}

enum class What : std::uint8_t { Values, Places };

// Returns values or indices; both_along() returns both in one pass.
Tensor one_over(const char* op, End end, What what, const Tensor& tensor, const Dims& dims, bool keep_dims) {
  const ReducedLines reduced = reduced_lines(op, tensor, dims, keep_dims);
  check_has_any(op, tensor, reduced);
  const bool is_place = what == What::Places;
  const Tensor out = empty(reduced.sizes, {is_place ? DType::I64 : tensor.dtype(), tensor.device()});
  if (out.numel() == 0) return out;
  launch(op, std::array{writes(out), reads(reduced.tensor)},
         [search = search_for(end, tensor.dtype(), reduced.lines), is_place](Addresses data) {
           search.run(data[1], is_place ? nullptr : data[0], is_place ? as_mutable<std::int64_t>(data[0]) : nullptr);
         });
  return out;
}

Extremes both_along(const char* op, End end, const Tensor& tensor, std::int64_t dim, bool keep_dim) {
  const ReducedLines reduced = reduced_lines(op, tensor, {dim}, keep_dim);
  check_has_any(op, tensor, reduced);
  const Extremes out{empty(reduced.sizes, tensor.options()), empty(reduced.sizes, {DType::I64, tensor.device()})};
  if (out.values.numel() == 0) return out;
  launch(op, std::array{writes(out.values), writes(out.indices), reads(reduced.tensor)},
         [search = search_for(end, tensor.dtype(), reduced.lines)](Addresses data) {
           search.run(data[2], data[0], as_mutable<std::int64_t>(data[1]));
         });
  return out;
}

}  // namespace

Tensor max(const Tensor& tensor) { return one_over("max", End::Largest, What::Values, tensor, {}, false); }
Tensor min(const Tensor& tensor) { return one_over("min", End::Smallest, What::Values, tensor, {}, false); }

Extremes max_along(const Tensor& tensor, std::int64_t dim, bool keep_dim) {
  return both_along("max", End::Largest, tensor, dim, keep_dim);
}
Extremes min_along(const Tensor& tensor, std::int64_t dim, bool keep_dim) {
  return both_along("min", End::Smallest, tensor, dim, keep_dim);
}

Tensor amax(const Tensor& tensor, const Dims& dims, bool keep_dims) {
  return one_over("amax", End::Largest, What::Values, tensor, dims, keep_dims);
}
Tensor amin(const Tensor& tensor, const Dims& dims, bool keep_dims) {
  return one_over("amin", End::Smallest, What::Values, tensor, dims, keep_dims);
}

Tensor argmax(const Tensor& tensor) { return one_over("argmax", End::Largest, What::Places, tensor, {}, false); }
Tensor argmin(const Tensor& tensor) { return one_over("argmin", End::Smallest, What::Places, tensor, {}, false); }
Tensor argmax(const Tensor& tensor, std::int64_t dim, bool keep_dim) {
  return one_over("argmax", End::Largest, What::Places, tensor, {dim}, keep_dim);
}
Tensor argmin(const Tensor& tensor, std::int64_t dim, bool keep_dim) {
  return one_over("argmin", End::Smallest, What::Places, tensor, {dim}, keep_dim);
}

Tensor extremes_gradient(const Tensor& gradient, const Tensor& input, const Tensor& result, const Dims& dims) {
  const Dims kept = sizes_without(input.sizes(), reduced_dims("extremes_gradient", input, dims), true);
  const Tensor best = reshape(result, kept);
  const Tensor is_best = add(eq(input, best), mul(ne(input, input), ne(best, best)));
  return mul(div(reshape(gradient, kept), sum(is_best, dims, true)), is_best);
}

}  // namespace distrun::tensor::plain
