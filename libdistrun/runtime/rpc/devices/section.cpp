#include <distrun/runtime/rpc/devices/section.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/core/dtype.hpp>

namespace distrun::rpc {

SentDevice sent(device::Device device) noexcept { return {static_cast<std::uint8_t>(device.type), device.index}; }

device::Device received(const SentDevice& sent) {
  if (sent.type > static_cast<std::uint8_t>(device::DeviceType::Cuda) || sent.index < 0 ||
      sent.index >= device::kDevicesMax) {
    throw Error(ErrorKind::InvalidArgument, "a message speaks of a device that can't be");
  }
  return {static_cast<device::DeviceType>(sent.type), sent.index};
}

SentShape sent(const TensorShape& shape) {
  return {static_cast<std::uint8_t>(shape.dtype), shape.contiguous, shape.offset, shape.sizes.to_vector(),
          shape.strides.to_vector()};
}

TensorShape received(const SentShape& sent, std::uint32_t span) {
  if (sent.dtype >= tensor::kDTypeCount || sent.sizes.size() > Dims::kMost ||
      (!sent.contiguous && sent.strides.size() != sent.sizes.size())) {
    throw Error(ErrorKind::InvalidArgument, "a message has a tensor that can't be");
  }
  return {
      static_cast<tensor::DType>(sent.dtype), sent.contiguous, span, sent.offset, Dims(sent.sizes), Dims(sent.strides)};
}

}  // namespace distrun::rpc
