#include <distrun/runtime/tensor/core/empty.hpp>

#include <distrun/runtime/tensor/core/called_operator.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>

namespace distrun::tensor::plain {
namespace {

// Up to this many bytes, a CPU tensor and its bytes are one allocation; malloc is fastest there.
constexpr std::size_t kSmall = 512;

// No machine has a larger address space.
constexpr std::int64_t kMost = std::int64_t{1} << 56;

std::size_t bytes_of(std::int64_t numel, DType dtype) {
  const auto element = static_cast<std::int64_t>(size_of(dtype));
  if (numel > kMost / element) {
    refuse("a tensor of " + std::to_string(numel) + " " + std::string(name_of(dtype)) + " elements has too many bytes");
  }
  return static_cast<std::size_t>(numel * element);
}

}  // namespace

Tensor empty(const Dims& sizes, TensorOptions options) {
  Shape shape(sizes);
  const std::size_t bytes = bytes_of(shape.numel, options.dtype);
  if (bytes <= kSmall && options.device.is_cpu()) {
    return Tensor(StridedImpl::make_small(options.dtype, std::move(shape), bytes));
  }
  return Tensor(make_ref<StridedImpl>(Storage::make(options.device, bytes), options.dtype, std::move(shape)));
}

Tensor empty_like(const Tensor& tensor) {
  check_defined("empty_like", {&tensor});
  return empty(tensor.sizes(), tensor.options());
}

}  // namespace distrun::tensor::plain
