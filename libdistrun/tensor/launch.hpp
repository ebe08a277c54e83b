#pragma once
// How an operator's host code gets at the elements: at once on the CPU, in the order of the device's current stream on
// a virtual GPU. The code is given addresses and captures the rest (sizes, strides, constants) by value: it may run
// after the operator has returned, and after the tensors are gone, since their memory is reused in stream order.
#include <array>
#include <functional>
#include <span>

#include <distrun/device/region.hpp>
#include <distrun/tensor/tensor.hpp>

namespace distrun::tensor {

struct Operand {
  const StridedImpl* tensor;
  device::Access access;
};
inline Operand reads(const Tensor& tensor) { return {&tensor.strided(), device::Access::Read}; }
inline Operand writes(const Tensor& tensor) { return {&tensor.strided(), device::Access::Write}; }
inline Operand updates(const Tensor& tensor) { return {&tensor.strided(), device::Access::ReadWrite}; }

// Where the operands' first elements are for the code that runs; in the operands' order.
using Addresses = std::byte* const*;
using HostKernel = std::function<void(Addresses)>;

// On the current stream of the device. `name` lives on. Throws Error{Unimplemented} on a driver without host kernels.
void launch_on_stream(const char* name, Device device, std::span<const Operand> operands, HostKernel body);

// All operands are on one device, and there is at least one. `body` is called with Addresses and must not throw.
template <std::size_t N, class Body>
void launch(const char* name, const std::array<Operand, N>& operands, Body&& body) {
  const Device device = operands[0].tensor->device;
  if (!device.is_cpu()) return launch_on_stream(name, device, operands, HostKernel(std::forward<Body>(body)));
  std::byte* addresses[N];
  for (std::size_t i = 0; i < N; ++i) addresses[i] = operands[i].tensor->data;
  body(Addresses(addresses));
}

}  // namespace distrun::tensor
