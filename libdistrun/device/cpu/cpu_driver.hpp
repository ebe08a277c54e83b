#pragma once
// The CPU as a device: one, whose memory is the host's and whose streams have nothing left to do when a call returns.
#include <distrun/device/driver.hpp>

namespace distrun::device {

Driver& cpu_driver();

}  // namespace distrun::device
