#pragma once
// Where a tensor lives and work runs: the CPU, or a GPU of the process's driver (driver.hpp).
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace distrun::device {

enum class DeviceType : std::uint8_t { Cpu, Cuda };

// A value. "cuda" names the kind of device, not the driver behind it: that may be the virtual one.
struct Device {
  DeviceType type = DeviceType::Cpu;
  std::int16_t index = 0;  // 0 for the CPU

  bool is_cpu() const noexcept { return type == DeviceType::Cpu; }
  friend auto operator<=>(const Device&, const Device&) = default;
};

inline constexpr int kDevicesMax = 64;  // GPUs of a process

inline constexpr Device kCpu{};
inline Device cuda(int index) noexcept { return {DeviceType::Cuda, static_cast<std::int16_t>(index)}; }

std::string to_string(Device device);  // "cpu", "cuda:1"
// "cpu", "cuda:1", or "cuda" for the calling thread's current one. Throws Error{InvalidArgument} for anything else;
// does not ask whether the device exists.
Device parse_device(std::string_view text);

}  // namespace distrun::device

namespace distrun {
using device::Device;
using device::DeviceType;
}  // namespace distrun
