#include <distrun/runtime/tensor/sparse/sparse_entries.hpp>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/reshape.hpp>
#include <distrun/runtime/tensor/core/sparse_parts.hpp>
#include <distrun/runtime/tensor/core/views.hpp>

namespace distrun::tensor {
namespace {

// Indices were in range when the tensor was created, but its creator shares their bytes and may change them.
[[noreturn]] void refuse_changed_index(const Tensor& tensor, std::int64_t index, std::size_t dim) {
  refuse("sparse tensor",
         "its indices were changed, and " + std::to_string(index) + " is out of range for size " +
             std::to_string(tensor.sizes()[dim]) + " of dimension " + std::to_string(dim),
         {&tensor});
}

}  // namespace

Dims sparse_sizes(const Tensor& tensor) {
  return Dims(tensor.sizes().span().first(static_cast<std::size_t>(sparse_dim(tensor))));
}

std::vector<std::int64_t> places_of(const Tensor& tensor) {
  const std::vector<std::int64_t> indices = to_vector<std::int64_t>(sparse(tensor).indices);
  const Dims sizes = sparse_sizes(tensor), strides = device::contiguous_strides(sizes);
  const auto count = static_cast<std::size_t>(nnz(tensor));
  std::vector<std::int64_t> places(count, 0);
  for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t index = indices[dim * count + i];
      if (index < 0 || index >= sizes[dim]) refuse_changed_index(tensor, index, dim);
      places[i] += index * strides[dim];
    }
  }
  return places;
}

Tensor places_on_device(const Tensor& tensor) {
  const std::vector<std::int64_t> places = places_of(tensor);
  return from_values(std::span<const std::int64_t>(places), {nnz(tensor)}, tensor.device());
}

Tensor indices_of(const std::vector<std::int64_t>& places, const Dims& sizes, Device device) {
  const auto count = static_cast<std::int64_t>(places.size());
  const Tensor indices = empty({static_cast<std::int64_t>(sizes.size()), count}, {DType::I64, device::kCpu});
  auto* out = indices.data_as<std::int64_t>();
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = places[static_cast<std::size_t>(i)];
    for (std::size_t dim = sizes.size(); dim-- > 0; rest /= sizes[dim]) {
      out[static_cast<std::int64_t>(dim) * count + i] = rest % sizes[dim];
    }
  }
  return to(indices, device);
}

Tensor with_index(const Tensor& indices, std::int64_t dim, std::int64_t number) {
  const std::int64_t behind = indices.size(0) - dim, count = indices.size(1);
  const Tensor out = empty({indices.size(0) + 1, count}, indices.options());
  copy_(narrow(out, 0, 0, dim), narrow(indices, 0, 0, dim));
  copy_(narrow(out, 0, dim, 1), full({1, count}, number, indices.options()));
  copy_(narrow(out, 0, dim + 1, behind), narrow(indices, 0, dim, behind));
  return out;
}

Tensor rows_by_place(const Tensor& dense, std::int64_t sparse_dim) {
  const auto split = static_cast<std::size_t>(sparse_dim);
  Dims sizes{device::count_of(Dims(dense.sizes().span().first(split)))};
  for (const std::int64_t size : dense.sizes().span().subspan(split)) sizes.push_back(size);
  return reshape(dense, sizes);
}

Tensor on_device(const std::vector<std::int64_t>& numbers, Device device) {
  return from_values(std::span<const std::int64_t>(numbers), {static_cast<std::int64_t>(numbers.size())}, device);
}

}  // namespace distrun::tensor
