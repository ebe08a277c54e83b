#include <distrun/runtime/device/gpu.hpp>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/process_mark.hpp>
#include <distrun/runtime/device/drivers/cuda/cuda_module.hpp>
#include <distrun/runtime/device/drivers/virtual/virtual_driver.hpp>

namespace distrun::device {
namespace {

// The result of creating the driver. Immutable once published, and never destroyed.
struct Gpu {
  std::unique_ptr<Driver> driver;
  std::string why_none;
  base::ProcessMark mark{};
};

std::mutex choosing;
GpuSettings* chosen = nullptr;  // guarded by choosing; null: default
std::atomic<const Gpu*> made{nullptr};

// A rank that sees only one device finds its number in DISTRUN_GPU: virtual devices use it as CUDA uses
// CUDA_VISIBLE_DEVICES.
int number_of_only() {
  const char* const number = std::getenv("DISTRUN_GPU");
  return number != nullptr ? std::atoi(number) : 0;
}

std::unique_ptr<Driver> make_virtual(const GpuSettings& settings) {
  VirtualSettings wanted;
  wanted.devices = settings.devices;
  if (settings.devices == 1) wanted.first = number_of_only();
  wanted.seed = settings.seed;
  wanted.check_order = settings.check_order;
  if (settings.memory_bytes > 0) wanted.memory_bytes = settings.memory_bytes;
  return make_virtual_driver(wanted);
}

Gpu* make(const GpuSettings& settings) {
  if (settings.driver == "none") return new Gpu{nullptr, "--gpu-driver is none"};
  if (settings.driver == "virtual") return new Gpu{make_virtual(settings), ""};
  CudaDriver cuda = open_cuda_driver(settings.devices);
  return new Gpu{std::move(cuda.driver), cuda.why_none};
}

const Gpu& gpu() {
  if (const Gpu* there = made.load(std::memory_order_acquire)) return *there;
  const std::lock_guard lock(choosing);
  if (const Gpu* there = made.load(std::memory_order_relaxed)) return *there;
  const Gpu* const fresh = make(chosen != nullptr ? *chosen : GpuSettings{});
  made.store(fresh, std::memory_order_release);
  return *fresh;
}

// Requires `choosing` to be locked.
void check_unused() {
  if (made.load(std::memory_order_relaxed) != nullptr) {
    throw Error(ErrorKind::InvalidArgument, "the GPU driver is already in use; choose it before its first use");
  }
}

[[noreturn]] void refuse_fork(const Gpu& there) {
  there.mark.refuse("the GPU driver \"" + std::string(there.driver->name()) + "\"",
                    "use GPUs in the parent process, fork before their first use, or exec() a program", {});
}

bool is_known(const std::string& driver) {
  return driver == "auto" || driver == "cuda" || driver == "virtual" || driver == "none";
}

}  // namespace

void choose_gpu_driver(const GpuSettings& settings) {
  if (!is_known(settings.driver)) {
    throw Error(ErrorKind::InvalidArgument,
                "unknown GPU driver '" + settings.driver + "'; expected auto, cuda, virtual or none");
  }
  if (settings.devices < 0 || settings.devices > kDevicesMax) {
    throw Error(
        ErrorKind::InvalidArgument,
        std::to_string(settings.devices) + " devices are not supported; expected 0 to " + std::to_string(kDevicesMax));
  }
  if (settings.driver == "virtual" && settings.devices == 0) {
    throw Error(ErrorKind::InvalidArgument, "the virtual driver needs at least 1 device");
  }
  const std::lock_guard lock(choosing);
  check_unused();
  delete chosen;
  chosen = new GpuSettings(settings);
}

void use_gpu_driver(std::unique_ptr<Driver> driver) {
  if (driver == nullptr) throw Error(ErrorKind::InvalidArgument, "the driver is null; use the driver \"none\" instead");
  if (driver->device_count() > kDevicesMax) {
    throw Error(ErrorKind::InvalidArgument, "a driver of " + std::to_string(driver->device_count()) +
                                                " devices is not supported; the limit is " +
                                                std::to_string(kDevicesMax));
  }
  const std::lock_guard lock(choosing);
  check_unused();
  made.store(new Gpu{std::move(driver), ""}, std::memory_order_release);
}

Driver& gpu_driver() {
  const Gpu& there = gpu();
  if (there.driver == nullptr) throw Error(ErrorKind::Unimplemented, "there is no GPU: " + there.why_none);
  if (there.mark.is_inherited()) [[unlikely]]
    refuse_fork(there);
  return *there.driver;
}

bool is_gpu_inherited() noexcept {
  const Gpu* const there = made.load(std::memory_order_acquire);
  return there != nullptr && there->mark.is_inherited();
}

int gpu_count() noexcept {
  const Gpu& there = gpu();
  return there.driver != nullptr ? there.driver->device_count() : 0;
}

std::string why_no_gpu() noexcept { return gpu().why_none; }

std::size_t describe_address(const void* address, char* text, std::size_t size) noexcept {
  const Gpu* there = made.load(std::memory_order_acquire);
  return there != nullptr && there->driver != nullptr ? there->driver->describe(address, text, size) : 0;
}

}  // namespace distrun::device
