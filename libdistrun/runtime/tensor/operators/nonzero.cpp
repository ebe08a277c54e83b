#include <distrun/runtime/tensor/operators/nonzero.hpp>

#include <algorithm>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/views.hpp>

namespace distrun::tensor::plain {

Tensor nonzero(const Tensor& tensor) {
  check_defined("nonzero", {&tensor});
  check_dense("nonzero", {&tensor});
  const Tensor is_set = contiguous(to(to(tensor, DType::Bool), device::kCpu));
  const auto* set = is_set.data_as<bool>();
  const Dims& sizes = tensor.sizes();
  const Tensor found = empty({std::count(set, set + tensor.numel(), true), tensor.dim()}, {DType::I64, device::kCpu});
  auto* out = found.data_as<std::int64_t>();
  Dims index(sizes.size(), 0);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    if (set[i]) {
      for (const std::int64_t at : index) *out++ = at;
    }
    for (std::size_t dim = sizes.size(); dim-- > 0; index[dim] = 0) {
      if (++index[dim] < sizes[dim]) break;
    }
  }
  return to(found, tensor.device());
}

}  // namespace distrun::tensor::plain
