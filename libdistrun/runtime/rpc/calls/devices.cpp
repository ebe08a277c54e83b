#include <distrun/runtime/rpc/calls/devices.hpp>

#include <algorithm>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/codec.hpp>
#include <distrun/runtime/device/gpu.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>

namespace distrun::rpc {
namespace {

struct SentDevice {
  std::uint8_t type = 0;
  std::int16_t index = 0;
};
DISTRUN_FIELDS(SentDevice, m.type, m.index)
struct SentPair {
  SentDevice from, to;
};
DISTRUN_FIELDS(SentPair, m.from, m.to)
// As it travels, in the section Devices.
struct SentDevices {
  std::vector<SentDevice> tensors;  // where each belongs
  std::vector<SentPair> map;
};
DISTRUN_FIELDS(SentDevices, m.tensors, m.map)

SentDevice sent(device::Device device) { return {static_cast<std::uint8_t>(device.type), device.index}; }

device::Device received(const SentDevice& sent) {
  if (sent.type > static_cast<std::uint8_t>(device::DeviceType::Cuda) || sent.index < 0 ||
      sent.index >= device::kDevicesMax) {
    throw Error(ErrorKind::InvalidArgument, "a message speaks of a device that can't be");
  }
  return {static_cast<device::DeviceType>(sent.type), sent.index};
}

// What the CPU's tensors stay on, unless a map says something else.
device::Device target_of(device::Device device, const DeviceMap& map, bool is_call, const std::string& to) {
  const auto found = map.find(device);
  if (found != map.end()) return found->second;
  if (device.is_cpu()) return device;
  throw Error(
      ErrorKind::InvalidArgument, "RuntimeError",
      "TensorPipe RPC backend only supports CPU tensors by default, please move your tensors to CPU before "
      "sending them over RPC, or call `set_device_map` on `TensorPipeRpcBackendOptions` to explicitly configure "
      "device mapping. " +
          std::string(is_call ? "Request" : "Response") + " device mapping is not available for destination " + to +
          ": " + device::to_string(device) + " has none");
}

}  // namespace

void stage_out(Message& message, const DeviceMap& map, const std::string& to) {
  const auto is_on_gpu = [](const Tensor& each) { return !each.device().is_cpu(); };
  if (map.empty() && std::none_of(message.tensors.begin(), message.tensors.end(), is_on_gpu)) return;
  const bool is_call = message.kind == MessageKind::Call;
  SentDevices devices;
  for (Tensor& each : message.tensors) {
    devices.tensors.push_back(sent(target_of(each.device(), map, is_call, to)));
    each = tensor::to(each, device::kCpu);
  }
  if (is_call) {
    for (const auto& [from, there] : map) devices.map.push_back({sent(from), sent(there)});
  }
  message.sections.push_back({SectionTag::Devices, wire::encode(devices)});
}

bool is_staged(const Message& message) noexcept {
  return std::any_of(message.sections.begin(), message.sections.end(),
                     [](const Section& each) { return each.tag == SectionTag::Devices; });
}

DeviceMap stage_in(Message& message) {
  DeviceMap back;
  for (const Section& each : message.sections) {
    if (each.tag != SectionTag::Devices) continue;
    const auto devices = wire::decode<SentDevices>(wire::view_of(each.bytes));
    if (devices.tensors.size() != message.tensors.size()) {
      throw Error(ErrorKind::InvalidArgument, "a message tells the devices of other tensors than it has");
    }
    for (std::size_t i = 0; i < message.tensors.size(); ++i) {
      message.tensors[i] = tensor::to(message.tensors[i], received(devices.tensors[i]));
    }
    for (const SentPair& pair : devices.map) back.emplace(received(pair.to), received(pair.from));
  }
  return back;
}

}  // namespace distrun::rpc
