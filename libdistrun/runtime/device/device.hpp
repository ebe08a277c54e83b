#pragma once
// Devices: the CPU, or a GPU of the process's driver (driver.hpp), where tensors live and work runs; and the names of
// their streams.
#include <compare>
#include <cstdint>
#include <iosfwd>
#include <string>

namespace distrun::device {

// Cuda is the process's GPU driver, also if it is the virtual one.
enum class DeviceType : std::uint8_t { Cpu, Cuda };

// A value type. "cuda" names the kind of device; the driver behind it may be the virtual one.
struct Device {
  DeviceType type = DeviceType::Cpu;  // the CPU unless set
  std::int16_t index = 0;             // 0 for the CPU

  bool is_cpu() const noexcept { return type == DeviceType::Cpu; }  // is the CPU
  friend auto operator<=>(const Device&, const Device&) = default;
};

inline constexpr int kDevicesMax = 64;  // GPUs per process

inline constexpr Device kCpu{};  // the CPU
// Returns GPU number `index`, whether or not it exists.
inline Device cuda(int index) noexcept { return {DeviceType::Cuda, static_cast<std::int16_t>(index)}; }

std::string to_string(Device device);                        // "cpu", "cuda:1"
std::ostream& operator<<(std::ostream& out, Device device);  // prints to_string()

// Chosen by the driver; 0 is the default stream of a device.
enum class StreamId : std::uint64_t {};

// A stream of a GPU in terms of its driver; tests use Stream (stream.hpp).
struct StreamRef {
  int device = 0;  // number of the GPU
  StreamId id{};   // on that GPU
  friend auto operator<=>(const StreamRef&, const StreamRef&) = default;
};
inline constexpr StreamRef kNoStream{-1, StreamId{}};  // of no device
std::string to_string(StreamRef stream);               // "cuda:0 default stream", "cuda:0 stream 3"

}  // namespace distrun::device

namespace distrun {
using device::Device;
using device::DeviceType;
}  // namespace distrun
