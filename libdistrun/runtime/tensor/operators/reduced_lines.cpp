#include <distrun/runtime/tensor/operators/reduced_lines.hpp>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/views.hpp>

namespace distrun::tensor {
namespace {

// Returns the order with kept dimensions first, so that lines are the last dimensions, contiguous.
Dims reduced_last(const std::vector<bool>& is_reduced) {
  Dims order;
  for (const bool wanted : {false, true}) {
    for (std::size_t dim = 0; dim < is_reduced.size(); ++dim) {
      if (is_reduced[dim] == wanted) order.push_back(static_cast<std::int64_t>(dim));
    }
  }
  return order;
}

// Dimensions of one element fit on either side.
bool lie_together(const Dims& sizes, const std::vector<bool>& is_reduced) {
  bool has_begun = false, has_ended = false;
  for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
    if (sizes[dim] == 1) continue;
    if (is_reduced[dim] && has_ended) return false;
    has_begun = has_begun || is_reduced[dim];
    has_ended = has_begun && !is_reduced[dim];
  }
  return true;
}

Around lines_of(const Dims& sizes, const std::vector<bool>& is_reduced) {
  Around lines;
  bool has_begun = false;
  for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
    has_begun = has_begun || (is_reduced[dim] && sizes[dim] != 1);
    (is_reduced[dim] ? lines.size : has_begun ? lines.inner : lines.outer) *= sizes[dim];
  }
  return lines;
}

}  // namespace

std::vector<bool> reduced_dims(const char* op, const Tensor& tensor, const Dims& dims) {
  std::vector<bool> is_reduced(tensor.sizes().size(), dims.empty());
  for (const std::int64_t dim : dims) {
    const std::size_t at = wrap_dim(op, dim, tensor.sizes().size());
    if (tensor.dim() == 0) continue;
    if (is_reduced[at])
      refuse(op, "dimension " + std::to_string(at) + " appears twice in " + to_string(dims), {&tensor});
    is_reduced[at] = true;
  }
  return is_reduced;
}

Dims sizes_without(const Dims& sizes, const std::vector<bool>& is_reduced, bool keep_dims) {
  Dims left;
  for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
    if (!is_reduced[dim]) left.push_back(sizes[dim]);
    if (is_reduced[dim] && keep_dims) left.push_back(1);
  }
  return left;
}

ReducedLines reduced_lines(const char* op, const Tensor& tensor, const Dims& dims, bool keep_dims) {
  check_defined(op, {&tensor});
  check_dense(op, {&tensor});
  const std::vector<bool> is_reduced = reduced_dims(op, tensor, dims);
  const Dims sizes = sizes_without(tensor.sizes(), is_reduced, keep_dims);
  if (lie_together(tensor.sizes(), is_reduced)) {
    return {plain::contiguous(tensor), lines_of(tensor.sizes(), is_reduced), sizes};
  }
  const Around rows = lines_of(tensor.sizes(), is_reduced);
  return {plain::contiguous(plain::permute(tensor, reduced_last(is_reduced))),
          Around{{rows.outer * rows.inner, rows.size, 1}}, sizes};
}

}  // namespace distrun::tensor
