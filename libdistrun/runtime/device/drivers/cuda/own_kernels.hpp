#pragma once
// The kernels that the CUDA module has itself.
#include <distrun/runtime/device/drivers/cuda/cuda_line.h>
#include <distrun/runtime/device/driver.hpp>
#include <distrun/runtime/device/lattice.hpp>

namespace distrun::device {

class OwnKernels {
 public:
  // `module` must outlive it.
  explicit OwnKernels(const distrun_cuda_module& module) : module_(module) {}

  // False, and nothing is done, if the module has none for what the kernel computes.
  bool launch(StreamRef stream, const Kernel& kernel) const;
  // The bytes of `bytes` from where they lie, seen from `from`, to where they lie, seen from `to`; both stand for
  // bytes.begin. Device memory or pinned, and no other byte of either is touched.
  void copy(StreamRef stream, std::byte* to, std::byte* from, const Lattice& bytes) const;

 private:
  const distrun_cuda_module& module_;
};

}  // namespace distrun::device
