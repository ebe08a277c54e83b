#include "gpus.hpp"

#include <mutex>

#include <distrun/runtime/device/drivers/cuda/cuda_module.hpp>

#include "emulated_cuda.hpp"

namespace distrun::testing {
namespace {

std::unique_ptr<device::Driver> make_emulated() {
  device::VirtualSettings settings;
  settings.devices = 2;
  settings.seed = 3;
  settings.check_order = true;
  return make_emulated_cuda(settings);
}

std::unique_ptr<device::Driver> open_real() {
  device::CudaDriver cuda = device::open_cuda_driver(0);
  skip_case_if(cuda.driver == nullptr, cuda.why_none);
  return std::move(cuda.driver);
}

}  // namespace

void use_gpus() {
  static std::once_flag done;
  std::call_once(done, [] { device::use_gpu_driver(wants_real_gpus() ? open_real() : make_emulated()); });
}

}  // namespace distrun::testing
