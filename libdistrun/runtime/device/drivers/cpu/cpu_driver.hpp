#pragma once
// The CPU as a device: one, whose memory is the host's and whose streams have nothing left to do when a call returns.
#include <memory>

#include <distrun/runtime/device/driver.hpp>

namespace distrun::device {

// The process's.
Driver& cpu_driver();
std::unique_ptr<Driver> make_cpu_driver();

}  // namespace distrun::device
