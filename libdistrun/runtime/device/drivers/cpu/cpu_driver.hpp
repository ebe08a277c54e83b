#pragma once
// The CPU as a single device: its memory is the host's, and its streams are idle when a call returns.
#include <memory>

#include <distrun/runtime/device/driver.hpp>

namespace distrun::device {

// Returns the process's driver.
Driver& cpu_driver();
std::unique_ptr<Driver> make_cpu_driver();

}  // namespace distrun::device
