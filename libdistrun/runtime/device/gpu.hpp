#pragma once
// The process's GPU driver, behind `cuda:i`. It is created on first use, after the fork, from the rank's settings
// (--gpu-driver, --gpus); programs without a rank choose it themselves.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <distrun/runtime/device/driver.hpp>

namespace distrun::device {

// Settings of the GPU driver.
struct GpuSettings {
  std::string driver = "auto";   // "auto" (cuda where a device is), "cuda", "virtual", "none"
  int devices = 0;               // number for the virtual driver, maximum for cuda; 0: all that exist
  std::uint64_t seed = 0;        // seed of the virtual driver's delays
  std::size_t memory_bytes = 0;  // per virtual device; 0: 4 GiB, of which only used memory is allocated
  bool check_order = false;      // the virtual driver reports accesses that no stream order protects
};

// Must be called before the first use. Throws Error{InvalidArgument} for an unknown driver, or after the first use.
void choose_gpu_driver(const GpuSettings& settings);
// Puts a program's own driver behind `cuda:i` until the process ends. Call before the first use, as above.
void use_gpu_driver(std::unique_ptr<Driver> driver);
// Throws Error{Unimplemented} with the reason if no driver is available; gpu_count() is 0 then. Throws Error{Failed} in
// a process that was forked after the first use: the driver's threads and open files are the parent's.
Driver& gpu_driver();
// Returns whether the driver belongs to the process from which this one was forked. Its memory and events must then be
// left alone.
bool is_gpu_inherited() noexcept;
// Returns the number of GPUs; 0 if gpu_driver() throws.
int gpu_count() noexcept;
// Returns an empty text if gpu_driver() works, otherwise the reason: "no NVIDIA driver on this machine".
std::string why_no_gpu() noexcept;
// Returns Driver::describe() of the driver, or 0 if it has not been created. Async-signal-safe.
std::size_t describe_address(const void* address, char* text, std::size_t size) noexcept;

}  // namespace distrun::device
