#include <distrun/runtime/device/drivers/cuda/cuda_module.hpp>

#include <dlfcn.h>
#include <unistd.h>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/device/drivers/cuda/cuda_driver.hpp>
#include <distrun/runtime/device/drivers/cuda/cuda_line.h>

namespace distrun::device {
namespace {

constexpr const char* kModule = "distrun_cuda.so";

// The folder of the file that this code is in: libdistrun.so.1, or a program that has the runtime within.
std::string own_folder() {
  Dl_info info;
  if (::dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) return ".";
  const std::string file = info.dli_fname;
  const std::size_t slash = file.rfind('/');
  return slash == std::string::npos ? "." : file.substr(0, slash);
}

// Beside libdistrun.so.1, or, of a program in bin, in the lib beside that.
std::string find_module() {
  for (const char* folder : {"/distrun/", "/../lib/distrun/"}) {
    const std::string file = own_folder() + folder + kModule;
    if (::access(file.c_str(), R_OK) == 0) return file;
  }
  return "";
}

struct Opened {
  const distrun_cuda_module* module = nullptr;
  std::string why_none;
};

Opened open_module() {
  const std::string file = find_module();
  if (file.empty()) {
    return {nullptr, "this distrun was built without CUDA: there is no distrun/" + std::string(kModule)};
  }
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {nullptr, "the CUDA module cannot be loaded: " + std::string(::dlerror())};
  const auto entry = reinterpret_cast<distrun_cuda_entry_t>(::dlsym(library, "distrun_cuda_entry"));
  if (entry == nullptr) return {nullptr, file + " is no CUDA module of distrun"};
  const distrun_cuda_module* module = entry();
  if (module->abi != DISTRUN_CUDA_ABI || module->size < sizeof(distrun_cuda_module)) {
    return {nullptr, file + " is of another version of distrun"};
  }
  return {module, ""};
}

}  // namespace

CudaDriver open_cuda_driver(int devices_most) {
  const Opened opened = open_module();
  if (opened.module == nullptr) return {nullptr, opened.why_none};
  int devices = 0;
  const int error = opened.module->count(&devices);
  if (error != 0) return {nullptr, std::string("no CUDA device: ") + opened.module->text(error)};
  if (devices == 0) return {nullptr, "no CUDA device on this machine"};
  if (devices_most > 0) devices = std::min(devices, devices_most);
  return {make_cuda_driver(*opened.module, devices), ""};
}

}  // namespace distrun::device
