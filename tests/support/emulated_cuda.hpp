#pragma once
// CUDA without a GPU: the driver of device/cuda over a module whose functions are those of the virtual driver, and
// whose kernels are the real module's code (runtime/device/drivers/cuda/elements.hpp), compiled for the host. So
// everything of the CUDA driver is run by tests but CUDA itself; and the virtual driver's rules hold for what it does:
// device memory is not touched by the host, streams run when they like, and accesses that no order protects are
// reported.
//
// As with CUDA, a host callback must not call any of it, and no copy may overlap what it copies: these are errors here.
#include <cstddef>
#include <memory>

#include <distrun/runtime/device/drivers/virtual/virtual_driver.hpp>

namespace distrun::testing {

// There is one at a time: the one before must be gone.
std::unique_ptr<device::Driver> make_emulated_cuda(const device::VirtualSettings& settings);

// From now on there is not more pinned memory than this in all. Any thread.
void limit_pinned_memory(std::size_t bytes);

}  // namespace distrun::testing
