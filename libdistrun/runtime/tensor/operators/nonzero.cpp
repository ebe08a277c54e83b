#include <distrun/runtime/tensor/operators/nonzero.hpp>

#include <algorithm>
#include <array>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/views.hpp>

namespace distrun::tensor::plain {
namespace {

// Writes the positions of set elements and returns their count. `places` has room for all, so that no branches are
// needed, which would often be mispredicted.
std::int64_t find_set(const bool* set, std::int64_t count, std::int64_t* places) {
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    places[found] = i;
    found += static_cast<std::int64_t>(set[i]);
  }
  return found;
}

// Lists the index of each set element, row by row.
void list_set(const bool* set, const Dims& sizes, std::int64_t* out) {
  constexpr std::int64_t kPart = 256;
  std::array<std::int64_t, kPart> places;
  const std::int64_t count = device::count_of(sizes), row = sizes.back();
  const std::size_t last = sizes.size() - 1;
  Dims index(sizes.size(), 0);
  for (std::int64_t first = 0; first < count; first += row) {
    for (std::int64_t start = 0; start < row; start += kPart) {
      const std::int64_t found = find_set(set + first + start, std::min(kPart, row - start), places.data());
      for (std::int64_t i = 0; i < found; ++i) {
        out = std::copy_n(index.begin(), last, out);
        *out++ = start + places[static_cast<std::size_t>(i)];
      }
    }
    for (std::size_t dim = last; dim-- > 0; index[dim] = 0) {
      if (++index[dim] < sizes[dim]) break;
    }
  }
}

}  // namespace

Tensor nonzero(const Tensor& tensor) {
  check_defined("nonzero", {&tensor});
  check_dense("nonzero", {&tensor});
  const Tensor is_set = contiguous(to(to(tensor, DType::Bool), device::kCpu));
  const auto* set = is_set.data_as<bool>();
  const Tensor found = empty({std::count(set, set + tensor.numel(), true), tensor.dim()}, {DType::I64, device::kCpu});
  if (found.numel() > 0) list_set(set, tensor.sizes(), found.data_as<std::int64_t>());
  return to(found, tensor.device());
}

}  // namespace distrun::tensor::plain
