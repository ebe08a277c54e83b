#include <distrun/runtime/tensor/operators/joining.hpp>

#include <algorithm>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/parallel.hpp>
#include <distrun/runtime/tensor/core/pointwise.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/sparse_parts.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/operators/around.hpp>
#include <distrun/runtime/tensor/sparse/coalesce.hpp>
#include <distrun/runtime/tensor/sparse/sparse_entries.hpp>

namespace distrun::tensor::plain {
namespace {

void check(const char* op, const TensorList& tensors) {
  if (tensors.empty()) refuse(op, "at least one tensor is required", {});
  for (const Tensor& tensor : tensors) {
    check_defined(op, {&tensor});
    check_same_device(op, {&tensors.front(), &tensor});
    if (tensor.is_sparse() != tensors.front().is_sparse()) {
      refuse(op, "all tensors must be sparse or none", {&tensors.front(), &tensor});
    }
  }
}

DType common_type(const TensorList& tensors) {
  DType dtype = tensors.front().dtype();
  for (const Tensor& tensor : tensors) dtype = promote(dtype, tensor.dtype());
  return dtype;
}

// Returns the sizes of the result; `at` is the dimension that the tensors are joined along.
Dims joined_sizes(const TensorList& tensors, std::size_t at) {
  Dims sizes = tensors.front().sizes();
  sizes[at] = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    Dims own = tensors[i].sizes();
    if (own.size() != sizes.size()) {
      refuse("cat",
             "tensors must have the same number of dimensions, and tensor " + std::to_string(i) + " has " +
                 std::to_string(own.size()),
             {&tensors.front(), &tensors[i]});
    }
    std::swap(own[at], sizes[at]);
    const std::int64_t whole = sum_of_sizes("cat", own[at], sizes[at]);
    sizes[at] = own[at];
    if (own != sizes) {
      refuse("cat",
             "sizes must match except in dimension " + std::to_string(at) + ", and those of tensor " +
                 std::to_string(i) + " don't",
             {&tensors.front(), &tensors[i]});
    }
    sizes[at] = whole;
  }
  return sizes;
}

// Joins contiguous tensors, row by row of the result, where a row is a tensor's part without gaps. Copies a few rows of
// each tensor at a time, so that cache lines shared by two tensors are still in the cache.
void join_rows(const Tensor& out, const TensorList& tensors, std::size_t at) {
  constexpr std::int64_t kBytesTogether = std::int64_t{1} << 16;
  const Around whole = around(out.sizes(), at);
  const auto out_bytes = static_cast<std::int64_t>(size_of(out.dtype()));
  const std::int64_t whole_bytes = whole.size * whole.inner * out_bytes;
  const std::int64_t together = kBytesTogether / whole_bytes + 1;
  const auto join = [&](std::int64_t first, std::int64_t rows) {
    std::byte* to = out.strided().data + first * whole_bytes;
    for (const Tensor& tensor : tensors) {
      const std::int64_t count = tensor.sizes()[at] * whole.inner;
      const auto bytes = static_cast<std::int64_t>(size_of(tensor.dtype()));
      std::byte* const data[] = {to, tensor.strided().data + first * count * bytes};
      const std::int64_t strides[] = {out_bytes, bytes}, down[] = {whole_bytes, count * bytes};
      copy_kernel(tensor.dtype(), out.dtype()).run(data, {strides, count}, {down, rows}, nullptr);
      to += count * out_bytes;
    }
  };
  parallel_for(whole.outer, kElementsEach / (whole.size * whole.inner) + 1, [&](std::int64_t first, std::int64_t end) {
    for (; first < end; first += together) join(first, std::min(together, end - first));
  });
}

bool are_rows(const Tensor& out, const TensorList& tensors, std::size_t at) {
  return out.device().is_cpu() && around(out.sizes(), at).outer > 1 && out.numel() > 0 &&
         std::all_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) { return tensor.is_contiguous(); });
}

Tensor stack_dense(const TensorList& tensors, std::size_t at) {
  Dims sizes = tensors.front().sizes();
  sizes.insert(at, static_cast<std::int64_t>(tensors.size()));
  const Tensor out = empty(sizes, {common_type(tensors), tensors.front().device()});
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    copy_(select_view(out, static_cast<std::int64_t>(at), static_cast<std::int64_t>(i)), tensors[i]);
  }
  return out;
}

// Takes the entries of all tensors, with the tensor's number as an additional index.
Tensor stack_sparse(const TensorList& tensors, std::size_t at) {
  const Tensor& first = tensors.front();
  const std::int64_t sparse_dims = sparse_dim(first);
  if (static_cast<std::int64_t>(at) > sparse_dims) {
    refuse("stack", "sparse tensors are stacked among their sparse dimensions only", {&first});
  }
  TensorList indices, values;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const SparseParts& parts = sparse(tensors[i]);
    if (sparse_dim(tensors[i]) != sparse_dims) {
      refuse("stack", "all tensors must have as many sparse dimensions", {&first, &tensors[i]});
    }
    indices.push_back(with_index(parts.indices, static_cast<std::int64_t>(at), static_cast<std::int64_t>(i)));
    values.push_back(parts.values);
  }
  Dims sizes = first.sizes();
  sizes.insert(at, static_cast<std::int64_t>(tensors.size()));
  const Tensor all = sparse_coo_unchecked(cat(indices, 1), cat(values, 0), sizes, false);
  for (const Tensor& tensor : tensors) {
    if (!is_coalesced(tensor)) return all;
  }
  return coalesce(all);
}

}  // namespace

Tensor cat(const TensorList& tensors, std::int64_t dim) {
  check("cat", tensors);
  check_dense("cat", {&tensors.front()});
  if (tensors.front().dim() == 0) refuse("cat", "tensors without dimensions cannot be joined", {&tensors.front()});
  const std::size_t at = wrap_dim("cat", dim, tensors.front().sizes().size());
  const Tensor out = empty(joined_sizes(tensors, at), {common_type(tensors), tensors.front().device()});
  if (are_rows(out, tensors, at)) {
    join_rows(out, tensors, at);
    return out;
  }
  std::int64_t start = 0;
  for (const Tensor& tensor : tensors) {
    const std::int64_t length = tensor.sizes()[at];
    copy_(narrow(out, static_cast<std::int64_t>(at), start, length), tensor);
    start += length;
  }
  return out;
}

Tensor stack(const TensorList& tensors, std::int64_t dim) {
  check("stack", tensors);
  const std::size_t at = wrap_dim("stack", dim, tensors.front().sizes().size() + 1);
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    if (tensors[i].sizes() == tensors.front().sizes()) continue;
    refuse("stack",
           "each tensor is expected to be of equal size, but tensor " + std::to_string(i) + " differs from tensor 0",
           {&tensors.front(), &tensors[i]});
  }
  return tensors.front().is_sparse() ? stack_sparse(tensors, at) : stack_dense(tensors, at);
}

}  // namespace distrun::tensor::plain
