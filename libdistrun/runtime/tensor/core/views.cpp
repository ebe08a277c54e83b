#include <distrun/runtime/tensor/core/views.hpp>

#include <algorithm>
#include <optional>

#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/sparse_parts.hpp>

namespace distrun::tensor::plain {
namespace {

Tensor view_of(const StridedImpl& base, Dims sizes, Dims strides, std::int64_t offset) {
  return Tensor(make_ref<StridedImpl>(base.storage(), base.dtype, std::move(sizes), std::move(strides), offset));
}

// Fills in -1 and returns a contiguous shape. Throws unless the number of elements is the same.
Shape inferred(const char* op, const Tensor& tensor, const Dims& wanted) {
  Dims sizes = wanted;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] >= 0) continue;
    if (sizes[i] != -1 || open) refuse(op, "invalid sizes " + to_string(wanted), {&tensor});
    open = i;
    sizes[i] = 1;
  }
  Shape shape(sizes);
  const bool is_ambiguous = open && shape.numel == 0;
  if (open && !is_ambiguous && tensor.numel() % shape.numel == 0) {
    sizes[*open] = tensor.numel() / shape.numel;
    shape = Shape(sizes);
  }
  if (is_ambiguous || shape.numel != tensor.numel()) {
    refuse(op,
           "sizes " + to_string(wanted) + " are invalid for input of " + std::to_string(tensor.numel()) + " elements",
           {&tensor});
  }
  return shape;
}

// Returns strides that give the same memory the new sizes: each group of contiguous old dimensions must hold a whole
// group of new ones. Returns nothing if one does not.
std::optional<Dims> strides_for(const StridedImpl& from, const Shape& shape) {
  if (from.contiguous) return shape.strides;
  const Dims& sizes = shape.sizes;
  Dims strides(sizes.size(), 0);
  std::size_t next = sizes.size();
  std::int64_t group = 1;  // elements of the old group so far
  std::int64_t stride = from.strides.empty() ? 1 : from.strides.back();
  for (std::size_t old = from.sizes.size(); old-- > 0;) {
    group *= from.sizes[old];
    const bool goes_on = old > 0 && (from.sizes[old - 1] == 1 || from.strides[old - 1] == group * stride);
    if (goes_on) continue;
    std::int64_t taken = 1;
    while (next > 0 && (taken < group || sizes[next - 1] == 1)) {
      --next;
      strides[next] = taken * stride;
      taken *= sizes[next];
    }
    if (taken != group) return std::nullopt;
    group = 1;
    if (old > 0) stride = from.strides[old - 1];
  }
  return next == 0 ? std::optional(strides) : std::nullopt;
}

// Returns the offset of element `first` along a dimension. Strides of an empty tensor are ignored: they may be too
// large to multiply.
std::int64_t offset_at(const StridedImpl& impl, std::size_t dim, std::int64_t first) {
  return impl.numel == 0 ? impl.offset : impl.offset + first * impl.strides[dim];
}

std::int64_t size_to_split(const Tensor& tensor, std::int64_t dim) {
  const Dims& sizes = tensor.strided().sizes;
  if (sizes.empty()) refuse("split", "cannot be applied to a tensor without dimensions", {&tensor});
  return sizes[wrap_dim("split", dim, sizes.size())];
}

Dims without(Dims dims, std::size_t at) {
  dims.erase(at);
  return dims;
}
Dims with(Dims dims, std::size_t at, std::int64_t value) {
  dims.insert(at, value);
  return dims;
}

}  // namespace

Tensor as_strided(const Tensor& base, Dims sizes, Dims strides, std::int64_t offset) {
  const bool is_negative = std::any_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size < 0; });
  if (sizes.size() != strides.size() || is_negative) {
    refuse("as_strided", "sizes " + to_string(sizes) + " and strides " + to_string(strides) + " do not fit", {&base});
  }
  return view_of(base.strided(), std::move(sizes), std::move(strides), offset);
}

Tensor alias(const Tensor& tensor) {
  check_defined("alias", {&tensor});
  if (tensor.is_sparse()) {
    return Tensor(make_ref<SparseImpl>(static_cast<const SparseImpl&>(*tensor.impl()).parts, tensor.sizes()));
  }
  const StridedImpl& impl = tensor.strided();
  return view_of(impl, impl.sizes, impl.strides, impl.offset);
}

std::optional<Tensor> view_if_possible(const char* op, const Tensor& tensor, const Dims& wanted) {
  const StridedImpl& impl = tensor.strided();
  const Shape shape = inferred(op, tensor, wanted);
  const std::optional<Dims> strides = strides_for(impl, shape);
  if (!strides) return std::nullopt;
  return view_of(impl, shape.sizes, *strides, impl.offset);
}

Tensor view(const Tensor& tensor, const Dims& wanted) {
  std::optional<Tensor> result = view_if_possible("view", tensor, wanted);
  if (!result) {
    refuse("view",
           "sizes " + to_string(wanted) + " are not compatible with strides " + to_string(tensor.strides()) +
               "; use reshape(), which copies if necessary",
           {&tensor});
  }
  return *std::move(result);
}

Tensor expand(const Tensor& tensor, const Dims& wanted) {
  const StridedImpl& impl = tensor.strided();
  if (wanted == impl.sizes) return tensor;
  const auto shift = static_cast<std::int64_t>(wanted.size()) - tensor.dim();
  Dims sizes = wanted;
  Dims strides(wanted.size(), 0);
  for (std::int64_t i = static_cast<std::int64_t>(wanted.size()) - 1; shift >= 0 && i >= shift; --i) {
    const auto to = static_cast<std::size_t>(i), from = static_cast<std::size_t>(i - shift);
    if (sizes[to] == -1) sizes[to] = impl.sizes[from];
    strides[to] = impl.sizes[from] == 1 && sizes[to] != 1 ? 0 : impl.strides[from];
  }
  const bool is_open = std::any_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size < 0; });
  if (is_open || !is_expandable(impl.sizes, sizes)) {
    refuse("expand", "the tensor cannot be expanded to sizes " + to_string(wanted), {&tensor});
  }
  return view_of(impl, sizes, strides, impl.offset);
}

Tensor transpose(const Tensor& tensor, std::int64_t a, std::int64_t b) {
  const StridedImpl& impl = tensor.strided();
  const std::size_t from = wrap_dim("transpose", a, impl.sizes.size());
  const std::size_t to = wrap_dim("transpose", b, impl.sizes.size());
  if (from == to) return alias(tensor);
  Dims sizes = impl.sizes, strides = impl.strides;
  std::swap(sizes[from], sizes[to]);
  std::swap(strides[from], strides[to]);
  return view_of(impl, std::move(sizes), std::move(strides), impl.offset);
}

Tensor t(const Tensor& tensor) {
  if (tensor.strided().sizes.size() > 2) refuse("t", "at most 2 dimensions are expected", {&tensor});
  return tensor.dim() < 2 ? alias(tensor) : transpose(tensor, 0, 1);
}

Tensor permute(const Tensor& tensor, const Dims& order) {
  const StridedImpl& impl = tensor.strided();
  Dims sizes = impl.sizes, strides = impl.strides;
  Dims is_taken(impl.sizes.size(), 0);
  if (order.size() != impl.sizes.size())
    refuse("permute", "each dimension must be named once in " + to_string(order), {&tensor});
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t from = wrap_dim("permute", order[i], order.size());
    if (is_taken[from]++ != 0) refuse("permute", "each dimension must be named once in " + to_string(order), {&tensor});
    sizes[i] = impl.sizes[from];
    strides[i] = impl.strides[from];
  }
  return view_of(impl, std::move(sizes), std::move(strides), impl.offset);
}

Tensor unsqueeze(const Tensor& tensor, std::int64_t dim) {
  const StridedImpl& impl = tensor.strided();
  const std::size_t at = wrap_dim("unsqueeze", dim, impl.sizes.size() + 1);
  const bool goes_before = at < impl.sizes.size() && impl.numel > 0;
  const std::int64_t stride = goes_before ? impl.sizes[at] * impl.strides[at] : 1;
  return view_of(impl, with(impl.sizes, at, 1), with(impl.strides, at, stride), impl.offset);
}

Tensor squeeze(const Tensor& tensor, std::int64_t dim) {
  const StridedImpl& impl = tensor.strided();
  const std::size_t at = wrap_dim("squeeze", dim, impl.sizes.size());
  if (impl.sizes.empty() || impl.sizes[at] != 1) return tensor;
  return view_of(impl, without(impl.sizes, at), without(impl.strides, at), impl.offset);
}

Tensor narrow(const Tensor& tensor, std::int64_t dim, std::int64_t start, std::int64_t length) {
  const StridedImpl& impl = tensor.strided();
  if (impl.sizes.empty()) refuse("narrow", "cannot be applied to a tensor without dimensions", {&tensor});
  const std::size_t at = wrap_dim("narrow", dim, impl.sizes.size());
  const std::int64_t first = start < 0 ? start + impl.sizes[at] : start;
  if (first < 0 || length < 0 || first > impl.sizes[at] || length > impl.sizes[at] - first) {
    refuse("narrow",
           "start (" + std::to_string(start) + ") and length (" + std::to_string(length) + ") exceed dimension " +
               std::to_string(at) + " of size " + std::to_string(impl.sizes[at]),
           {&tensor});
  }
  Dims sizes = impl.sizes;
  sizes[at] = length;
  return view_of(impl, std::move(sizes), impl.strides, offset_at(impl, at, first));
}

Tensor select_view(const Tensor& tensor, std::int64_t dim, std::int64_t index) {
  const StridedImpl& impl = tensor.strided();
  if (impl.sizes.empty()) refuse("select", "cannot be applied to a tensor without dimensions", {&tensor});
  const std::size_t at = wrap_dim("select", dim, impl.sizes.size());
  const std::int64_t size = impl.sizes[at];
  if (index < -size || index >= size) refuse_index("select", index, at, tensor);
  const std::int64_t position = index < 0 ? index + size : index;
  return view_of(impl, without(impl.sizes, at), without(impl.strides, at), offset_at(impl, at, position));
}

TensorList split(const Tensor& tensor, const Dims& sizes, std::int64_t dim) {
  std::int64_t left = size_to_split(tensor, dim);
  bool do_fit = true;
  for (const std::int64_t size : sizes) {
    do_fit &= size >= 0 && size <= left;
    if (do_fit) left -= size;
  }
  if (!do_fit || left != 0) {
    refuse("split", "pieces of " + to_string(sizes) + " do not make up dimension " + std::to_string(dim), {&tensor});
  }
  TensorList pieces;
  std::int64_t start = 0;
  for (const std::int64_t size : sizes) {
    pieces.push_back(narrow(tensor, dim, start, size));
    start += size;
  }
  return pieces;
}

TensorList split(const Tensor& tensor, std::int64_t size, std::int64_t dim) {
  const std::int64_t whole = size_to_split(tensor, dim);
  if (size < 0 || (size == 0 && whole != 0)) {
    refuse("split", "pieces of size " + std::to_string(size) + " do not make up dimension " + std::to_string(dim),
           {&tensor});
  }
  constexpr std::int64_t kMostPieces = 1 << 24;  // an expanded tensor can have any size; handles need memory
  if (size > 0 && whole / size > kMostPieces) {
    refuse("split",
           "pieces of size " + std::to_string(size) + " of dimension " + std::to_string(dim) + " are more than " +
               std::to_string(kMostPieces),
           {&tensor});
  }
  TensorList pieces;
  std::int64_t start = 0, length = 0;
  do {
    length = std::min(size, whole - start);
    pieces.push_back(narrow(tensor, dim, start, length));
    start += length;
  } while (start < whole);
  return pieces;
}

}  // namespace distrun::tensor::plain
