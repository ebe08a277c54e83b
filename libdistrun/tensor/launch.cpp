#include <distrun/tensor/launch.hpp>

#include <distrun/base/check.hpp>
#include <distrun/device/stream.hpp>

namespace distrun::tensor {
namespace {

constexpr std::size_t kMostOperands = 8;

device::Region region_of(const Operand& operand) {
  const StridedImpl& tensor = *operand.tensor;
  return {tensor.data, size_of(tensor.dtype), tensor.sizes, tensor.strides, operand.access};
}

}  // namespace

void launch_on_stream(const char* name, Device device, std::span<const Operand> operands, HostKernel body) {
  DISTRUN_ASSERT(operands.size() <= kMostOperands);
  device::Kernel kernel{name, {}, {}};
  kernel.regions.reserve(operands.size());
  for (const Operand& operand : operands) kernel.regions.push_back(region_of(operand));
  kernel.body = [body = std::move(body)](const std::vector<device::Region>& regions) {
    std::byte* addresses[kMostOperands] = {};
    for (std::size_t i = 0; i < regions.size(); ++i) addresses[i] = static_cast<std::byte*>(regions[i].begin);
    body(addresses);
  };
  const Stream stream = device::current_stream(device);
  stream.driver().launch(stream.ref(), std::move(kernel), base::Location::here());
}

}  // namespace distrun::tensor
