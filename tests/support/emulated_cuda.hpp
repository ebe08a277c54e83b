#pragma once
// CUDA without a GPU: the driver of device/cuda over a module with the virtual driver's functions and the real module's
// kernels (runtime/device/drivers/cuda/elements.hpp, compiled for the host). Tests thus run the whole CUDA driver
// except CUDA itself, under the virtual driver's rules: the host must not touch device memory, streams run in any
// order, and unordered accesses are reported.
//
// As with CUDA, a host callback must not call the driver, and source and destination of a copy must not overlap. The
// first ends the process here, the second is an error.
#include <cstddef>
#include <functional>
#include <memory>

#include <distrun/runtime/device/drivers/virtual/virtual_driver.hpp>

namespace distrun::testing {

// Creates the driver. At most one may exist at a time.
std::unique_ptr<device::Driver> make_emulated_cuda(const device::VirtualSettings& settings);

// Calls `body` in each call of CUDA that records an event, as if CUDA waited there; an empty one ends that. Set it
// while no other thread uses the driver.
void call_while_recording(std::function<void()> body);

// Limits the total of pinned memory from now on. Thread-safe.
void limit_pinned_memory(std::size_t bytes);

}  // namespace distrun::testing
