#include <distrun/runtime/tensor/sparse/sparse_entries.hpp>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/reshape.hpp>
#include <distrun/runtime/tensor/core/sparse_parts.hpp>
#include <distrun/runtime/tensor/core/views.hpp>

namespace distrun::tensor {

Dims sparse_sizes(const Tensor& tensor) {
  return Dims(tensor.sizes().span().first(static_cast<std::size_t>(sparse_dim(tensor))));
}

std::vector<std::int64_t> places_of(const Tensor& tensor) {
  const std::vector<std::int64_t> indices = to_vector<std::int64_t>(sparse(tensor).indices);
  const Dims strides = device::contiguous_strides(sparse_sizes(tensor));
  const auto count = static_cast<std::size_t>(nnz(tensor));
  std::vector<std::int64_t> places(count, 0);
  for (std::size_t dim = 0; dim < strides.size(); ++dim) {
    for (std::size_t i = 0; i < count; ++i) places[i] += indices[dim * count + i] * strides[dim];
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
