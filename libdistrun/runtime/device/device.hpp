#pragma once
// Where a tensor lives and work runs: the CPU, or a GPU of the process's driver (driver.hpp), and the names of its
// queues of work.
#include <compare>
#include <cstdint>
#include <iosfwd>
#include <string>

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
std::ostream& operator<<(std::ostream& out, Device device);

// A number of the driver's own; 0 is the default stream of a device.
enum class StreamId : std::uint64_t {};

// A stream of a GPU, as its driver knows it; Stream (stream.hpp) is what tests use.
struct StreamRef {
  int device = 0;
  StreamId id{};
  friend auto operator<=>(const StreamRef&, const StreamRef&) = default;
};
inline constexpr StreamRef kNoStream{-1, StreamId{}};
std::string to_string(StreamRef stream);  // "cuda:0 default stream", "cuda:0 stream 3"

}  // namespace distrun::device

namespace distrun {
using device::Device;
using device::DeviceType;
}  // namespace distrun
