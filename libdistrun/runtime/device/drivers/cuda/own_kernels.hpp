#pragma once
// The kernels of the CUDA module.
#include <distrun/runtime/device/drivers/cuda/cuda_line.h>
#include <distrun/runtime/device/driver.hpp>
#include <distrun/runtime/device/lattice.hpp>

namespace distrun::device {

class OwnKernels {
 public:
  // `module` must outlive it.
  explicit OwnKernels(const distrun_cuda_module& module) : module_(module) {}

  // Returns false and does nothing if the module has no such kernel.
  bool launch(StreamRef stream, const Kernel& kernel) const;
  // Copies the bytes of `bytes` from `from` to `to`; both addresses stand for bytes.begin. Device or pinned memory;
  // touches no other byte.
  void copy(StreamRef stream, std::byte* to, std::byte* from, const Lattice& bytes) const;

 private:
  const distrun_cuda_module& module_;
};

}  // namespace distrun::device
