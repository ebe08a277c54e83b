#include <distrun/runtime/tensor/core/empty.hpp>

#include <distrun/common/base/error.hpp>

namespace distrun::tensor::plain {
namespace {

// Up to so many bytes a tensor of the CPU is one allocation with its bytes; malloc is at its best there.
constexpr std::size_t kSmall = 512;

std::size_t bytes_of(std::int64_t numel, DType dtype) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(numel), size_of(dtype), &bytes)) {
    throw Error(ErrorKind::InvalidArgument, "a tensor of " + std::to_string(numel) + " " + std::string(name_of(dtype)) +
                                                " elements has too many bytes");
  }
  return bytes;
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

Tensor empty_like(const Tensor& tensor) { return empty(tensor.sizes(), tensor.options()); }
}  // namespace distrun::tensor::plain
