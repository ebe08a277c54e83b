#pragma once
// Runs an operator's host code on elements: immediately on the CPU, in order of the device's current stream on a GPU,
// where it runs on a copy unless the GPU has a kernel of its own (runtime/device/driver.hpp). The code receives
// addresses and captures the rest (sizes, strides, constants) by value: it may run after the operator has returned and
// after the tensors are destroyed, since their memory is reused in stream order.
#include <array>
#include <functional>
#include <optional>
#include <span>

#include <distrun/runtime/device/elementwise.hpp>
#include <distrun/runtime/device/memory/region.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

struct Operand {
  const StridedImpl* tensor;
  device::Access access;
};
inline Operand reads(const Tensor& tensor) { return {&tensor.strided(), device::Access::Read}; }
inline Operand writes(const Tensor& tensor) { return {&tensor.strided(), device::Access::Write}; }
inline Operand updates(const Tensor& tensor) { return {&tensor.strided(), device::Access::ReadWrite}; }

// The addresses of the operands' first elements, as seen by the running code; in the operands' order.
using Addresses = std::byte* const*;
using HostKernel = std::function<void(Addresses)>;

// Launches on the device's current stream. `name` is not copied. The regions in `elementwise` are operand indices.
void launch_on_stream(const char* name, Device device, std::span<const Operand> operands, HostKernel body,
                      std::optional<device::Elementwise> elementwise = {});

// All operands are on one device, and there is at least one. `body` is called with Addresses and must not throw.
// `describe` is called on GPUs only; it returns what the body computes, as data.
template <std::size_t N, class Body, class Describe>
void launch(const char* name, const std::array<Operand, N>& operands, Body&& body, const Describe& describe) {
  const Device device = operands[0].tensor->device;
  if (!device.is_cpu()) {
    return launch_on_stream(name, device, operands, HostKernel(std::forward<Body>(body)), describe());
  }
  std::byte* addresses[N];
  for (std::size_t i = 0; i < N; ++i) addresses[i] = operands[i].tensor->data;
  body(Addresses(addresses));
}
template <std::size_t N, class Body>
void launch(const char* name, const std::array<Operand, N>& operands, Body&& body) {
  launch(name, operands, std::forward<Body>(body), [] { return std::nullopt; });
}

// Calls `body` with a zero of the floating dtype's type: for loops that are instantiated for both types.
template <class Body>
void with_floating(DType dtype, Body body) {
  if (dtype == DType::F32) {
    body(float{});
  } else {
    body(double{});
  }
}

}  // namespace distrun::tensor
