#pragma once
// Which device of another worker each of one's own stands for: a tensor on the first comes to the second, and what is
// sent back takes the same way.
#include <map>

#include <distrun/runtime/device/device.hpp>

namespace distrun::rpc {

using DeviceMap = std::map<device::Device, device::Device>;  // from here to there

}  // namespace distrun::rpc
