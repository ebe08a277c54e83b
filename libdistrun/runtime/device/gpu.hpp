#pragma once
// The process's GPU driver: which one is behind `cuda:i`. It is made on first use, after the fork, from the rank's
// settings (--gpu-driver, --gpus); programs without a rank choose it themselves.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <distrun/runtime/device/driver.hpp>

namespace distrun::device {

struct GpuSettings {
  std::string driver = "auto";   // "auto" (cuda where a device is), "cuda", "virtual", "none"
  int devices = 0;               // of the virtual driver, or the most of cuda; 0: as many as there are
  std::uint64_t seed = 0;        // of the virtual driver's delays
  std::size_t memory_bytes = 0;  // of each virtual device; 0: 4 GiB, of which only what is used is taken
  bool check_order = false;      // the virtual driver reports accesses that no stream order protects
};

// Before the first use. Throws Error{InvalidArgument} for an unknown driver, or after it.
void choose_gpu_driver(const GpuSettings& settings);
// For programs that bring a driver of their own: it is behind `cuda:i` until the process ends. Before the first use, as
// above.
void use_gpu_driver(std::unique_ptr<Driver> driver);
// Throws Error{Unimplemented} with the reason where there is none; gpu_count() is 0 then. Throws Error{Failed} in a
// process that was forked after the first use: the driver's threads, and what it has open, are the parent's.
Driver& gpu_driver();
// Returns whether the driver is that of the process from which this one was forked. Memory and events of it are left as
// they are then.
bool is_gpu_inherited() noexcept;
int gpu_count() noexcept;
// Empty if gpu_driver() answers, else why it doesn't: "no NVIDIA driver on this machine".
std::string why_no_gpu() noexcept;
// Driver::describe() of the driver, if it is there by now; 0 if not. Async-signal-safe.
std::size_t describe_address(const void* address, char* text, std::size_t size) noexcept;

}  // namespace distrun::device
