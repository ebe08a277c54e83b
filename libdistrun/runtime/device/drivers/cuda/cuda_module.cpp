#include <distrun/runtime/device/drivers/cuda/cuda_module.hpp>

#include <algorithm>

#include <distrun/runtime/device/drivers/cuda/cuda_line.h>
#include <distrun/runtime/core/module.hpp>
#include <distrun/runtime/device/drivers/cuda/cuda_driver.hpp>

namespace distrun::device {
namespace {

constexpr core::ModuleName kModule{"CUDA", "distrun_cuda.so", "distrun_cuda_entry"};

struct Opened {
  const distrun_cuda_module* module = nullptr;
  std::string why_none;
};

Opened open() {
  const core::Module opened = core::open_module(kModule);
  if (opened.entry == nullptr) return {nullptr, opened.why_none};
  const distrun_cuda_module* module = reinterpret_cast<distrun_cuda_entry_t>(opened.entry)();
  if (module->abi != DISTRUN_CUDA_ABI || module->size < sizeof(distrun_cuda_module)) {
    return {nullptr, opened.file + " belongs to another version of distrun"};
  }
  return {module, ""};
}

}  // namespace

CudaDriver open_cuda_driver(int devices_most) {
  const Opened opened = open();
  if (opened.module == nullptr) return {nullptr, opened.why_none};
  int devices = 0;
  const int error = opened.module->count(&devices);
  if (error != 0) return {nullptr, std::string("no CUDA device: ") + opened.module->text(error)};
  if (devices == 0) return {nullptr, "no CUDA device on this machine"};
  if (devices_most > 0) devices = std::min(devices, devices_most);
  return {make_cuda_driver(*opened.module, devices), ""};
}

}  // namespace distrun::device
