#include "gpus.hpp"

#include <mutex>

#include <distrun/runtime/device/gpu.hpp>

#include "emulated_cuda.hpp"

namespace distrun::testing {

void use_gpus() {
  static std::once_flag done;
  std::call_once(done, [] {
    device::VirtualSettings settings;
    settings.devices = 2;
    settings.seed = 3;
    settings.check_order = true;
    device::use_gpu_driver(make_emulated_cuda(settings));
  });
}

}  // namespace distrun::testing
