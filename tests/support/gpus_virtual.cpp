#include "gpus.hpp"

#include <mutex>

#include <distrun/runtime/device/gpu.hpp>

namespace distrun::testing {

void use_gpus() {
  static std::once_flag done;
  std::call_once(done, [] {
    device::GpuSettings settings;
    settings.driver = "virtual";
    settings.devices = 2;
    settings.seed = 3;
    settings.check_order = true;
    device::choose_gpu_driver(settings);
  });
}

}  // namespace distrun::testing
