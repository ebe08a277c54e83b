#pragma once
// Maps devices of this worker to devices of another one: tensors are sent from first to second; answers reverse it.
#include <map>

#include <distrun/runtime/device/device.hpp>

namespace distrun::rpc {

using DeviceMap = std::map<device::Device, device::Device>;  // from here to there

}  // namespace distrun::rpc
