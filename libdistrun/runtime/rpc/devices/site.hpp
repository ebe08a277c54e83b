#pragma once
// The location of a worker's GPUs, as it reports it to other workers. They decide from it whether they can read its
// device memory directly (channel "ipc"), and which of their own device numbers its devices have.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/wire/codec.hpp>
#include <distrun/runtime/device/device.hpp>

namespace distrun::rpc {

inline constexpr std::int32_t kNotCounted = -1;

struct DeviceSite {
  std::int32_t count = kNotCounted;  // of GPUs; counted only if devices are named: it may start a driver
  std::string driver;                // "cuda", "virtual"; empty without GPUs
  std::string machine;               // equal for all processes that can open each other's handles
  std::int32_t pid = 0;
  std::vector<std::string> uuids;  // of its GPUs, in order
};
DISTRUN_FIELDS(DeviceSite, m.count, m.driver, m.machine, m.pid, m.uuids)

// Returns the site of this process; starts its GPU driver.
DeviceSite own_device_site();

// Returns why memory handles cannot be exchanged between the two; empty: they can.
std::string why_no_handles(const DeviceSite& own, const DeviceSite& peer);
// Returns the number of a peer's device on `own`; nullopt: the device is not visible there.
std::optional<std::int16_t> own_number_of(const DeviceSite& own, const DeviceSite& peer, std::int16_t device);

}  // namespace distrun::rpc
