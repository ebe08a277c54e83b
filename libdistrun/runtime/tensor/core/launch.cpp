#include <distrun/runtime/tensor/core/launch.hpp>

#include <distrun/common/base/check.hpp>
#include <distrun/runtime/device/stream.hpp>

namespace distrun::tensor {
namespace {

constexpr std::size_t kMostOperands = 8;

device::Region region_of(const Operand& operand) {
  const StridedImpl& tensor = *operand.tensor;
  return {tensor.data, size_of(tensor.dtype), tensor.sizes, tensor.strides, operand.access};
}

// Maps each operand to a region. Operands with the same memory, as in an in-place operator, share one region: work does
// not race with itself, and a race with other work is reported once.
struct Regions {
  std::vector<device::Region> all;
  std::array<std::size_t, kMostOperands> of{};

  void add(std::size_t operand, device::Region region) {
    for (of[operand] = 0; of[operand] < all.size(); ++of[operand]) {
      device::Region& other = all[of[operand]];
      const bool is_same = other.begin == region.begin && other.element_bytes == region.element_bytes &&
                           other.sizes == region.sizes && other.strides == region.strides;
      if (!is_same) continue;
      if (other.access != region.access) other.access = device::Access::ReadWrite;
      return;
    }
    all.push_back(std::move(region));
  }
};

}  // namespace

void launch_on_stream(const char* name, Device device, std::span<const Operand> operands, HostKernel body,
                      std::optional<device::Elementwise> elementwise) {
  DISTRUN_ASSERT(operands.size() <= kMostOperands);
  Regions regions;
  for (std::size_t i = 0; i < operands.size(); ++i) regions.add(i, region_of(operands[i]));
  if (elementwise) {
    for (device::Elementwise::Operand& operand : elementwise->operands) {
      if (operand.region >= 0) operand.region = static_cast<int>(regions.of[static_cast<std::size_t>(operand.region)]);
    }
  }
  device::Kernel kernel{name, std::move(regions.all), {}, std::move(elementwise)};
  kernel.body = [body = std::move(body), of = regions.of](const std::vector<device::Region>& there) {
    std::byte* addresses[kMostOperands] = {};
    for (std::size_t i = 0; i < kMostOperands; ++i) addresses[i] = static_cast<std::byte*>(there[of[i]].begin);
    body(addresses);
  };
  const Stream stream = device::current_stream(device);
  stream.driver().launch(stream.ref(), std::move(kernel), {});  // records the line that called the operator
}

}  // namespace distrun::tensor
