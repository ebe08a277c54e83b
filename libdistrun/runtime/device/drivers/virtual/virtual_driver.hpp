#pragma once
// Devices that are like CUDA's but for being emulated by threads of the process: memory that host code can't touch
// (memory.hpp), streams that run when they like (scheduler.hpp), and a check of what order they are told
// (order_check.hpp). So tests that are written for devices run where there is none, and what is wrong with them shows.
//
// What a call asks for is noted under one lock, in the order of the calls; what the host waits for it waits for
// without.
#include <memory>

#include <distrun/runtime/device/driver.hpp>

namespace distrun::device {

struct VirtualSettings {
  int devices = 1;
  std::uint64_t seed = 0;
  std::size_t memory_bytes = std::size_t{4} << 30;  // of each device; what is not touched costs nothing
  bool check_order = false;                         // reports go to order_report.hpp
};

// Throws Error{Failed} if the host has no room for the devices' addresses.
std::unique_ptr<Driver> make_virtual_driver(const VirtualSettings& settings);

}  // namespace distrun::device
