#include <distrun/runtime/device/device.hpp>

#include <ostream>

namespace distrun::device {

std::ostream& operator<<(std::ostream& out, Device device) { return out << to_string(device); }

std::string to_string(Device device) {
  return device.is_cpu() ? std::string("cpu") : "cuda:" + std::to_string(device.index);
}

std::string to_string(StreamRef stream) {
  const auto id = static_cast<std::uint64_t>(stream.id);
  return to_string(cuda(stream.device)) + (id == 0 ? std::string(" default stream") : " stream " + std::to_string(id));
}

}  // namespace distrun::device
