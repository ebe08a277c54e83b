#include "driver_contract.hpp"

#include <distrun/runtime/device/drivers/cuda/cuda_module.hpp>

namespace distrun::device {

Subject make_subject() {
  CudaDriver cuda = open_cuda_driver(0);
  Subject subject;
  subject.driver = std::move(cuda.driver);
  subject.why_absent = cuda.why_none;
  return subject;
}

}  // namespace distrun::device
