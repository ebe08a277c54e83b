#include <distrun/device/allocator.hpp>

#include <distrun/base/error.hpp>
#include <distrun/device/cpu/cpu_memory.hpp>

namespace distrun::device {

std::unique_ptr<Memory> allocate(Device device, std::size_t bytes) {
  if (device.is_cpu()) return allocate_on_cpu(bytes);
  driver_of(device);
  throw Error(ErrorKind::Unimplemented, "no memory of " + to_string(device));
}

}  // namespace distrun::device
