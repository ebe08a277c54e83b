#include <distrun/tensor/nonzero.hpp>

#include <distrun/tensor/copy.hpp>
#include <distrun/tensor/factories.hpp>
#include <distrun/tensor/shape.hpp>
#include <distrun/tensor/views.hpp>

namespace distrun::tensor::plain {

Tensor nonzero(const Tensor& tensor) {
  check_defined("nonzero", {&tensor});
  check_dense("nonzero", {&tensor});
  const Tensor is_set = contiguous(to(to(tensor, DType::Bool), device::kCpu));
  const auto* set = is_set.data_as<bool>();
  const Dims& sizes = tensor.sizes();
  std::vector<std::int64_t> found;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    if (!set[i]) continue;
    ++count;
    found.resize(found.size() + sizes.size());
    std::int64_t rest = i;
    for (std::size_t dim = sizes.size(); dim-- > 0; rest /= sizes[dim]) {
      found[found.size() - sizes.size() + dim] = rest % sizes[dim];
    }
  }
  return from_values(std::span<const std::int64_t>(found), {count, tensor.dim()}, tensor.device());
}

}  // namespace distrun::tensor::plain
