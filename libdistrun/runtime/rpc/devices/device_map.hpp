#pragma once
// Maps devices of this worker to devices of another one: a tensor on the first is sent to the second, and answers take
// the reverse way.
#include <map>

#include <distrun/runtime/device/device.hpp>

namespace distrun::rpc {

using DeviceMap = std::map<device::Device, device::Device>;  // from here to there

}  // namespace distrun::rpc
