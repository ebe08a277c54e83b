#pragma once
// Where a worker's GPUs are, as it tells the others: so that they know whether they can read its devices' memory
// themselves (channel "ipc"), and by which number of their own they know a device of it.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/wire/codec.hpp>
#include <distrun/runtime/device/device.hpp>

namespace distrun::rpc {

inline constexpr std::int32_t kNotCounted = -1;

struct DeviceSite {
  std::int32_t count = kNotCounted;  // of GPUs; not counted: nobody has named devices, and it may take a driver's start
  std::string driver;                // "cuda", "virtual"; empty without GPUs
  std::string machine;               // the same for all who can open each other's handles
  std::int32_t pid = 0;
  std::vector<std::string> uuids;  // of its GPUs, in their order
};
DISTRUN_FIELDS(DeviceSite, m.count, m.driver, m.machine, m.pid, m.uuids)

// Of this process; starts its GPU driver.
DeviceSite own_device_site();

// Why handles of memory can't go between two of them; empty: they can.
std::string why_no_handles(const DeviceSite& own, const DeviceSite& peer);
// By which number `own` knows a device of `peer`; nothing: it does not see it.
std::optional<std::int16_t> own_number_of(const DeviceSite& own, const DeviceSite& peer, std::int16_t device);

}  // namespace distrun::rpc
