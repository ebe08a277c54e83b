#include <distrun/runtime/device/drivers/cuda/check.hpp>

#include <string>

#include <distrun/common/base/error.hpp>

namespace distrun::device {

void check_cuda(const distrun_cuda_module& module, int error, const char* doing) {
  if (error != 0) throw Error(ErrorKind::Failed, std::string("CUDA cannot ") + doing + ": " + module.text(error));
}

}  // namespace distrun::device
