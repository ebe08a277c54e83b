#pragma once
// What may look at gradients on their way, and change them.
#include <cstdint>
#include <functional>

#include <distrun/runtime/autograd/inline_vector.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::autograd {

// Of a node's inputs, or of its results; undefined ones stand for zeros. Copies of the handles, not of tensors.
using Gradients = InlineVector<Tensor, 2>;

// Called with the gradient of one tensor; a defined result replaces it, and must be like it: of its size, dtype, layout
// and device.
using TensorHook = std::function<Tensor(const Tensor&)>;
// Called before a node with its gradients, or after it with its results and what it got. What it returns replaces them.
using PreHook = std::function<TensorList(TensorList)>;
using PostHook = std::function<TensorList(TensorList results, const TensorList& gradients)>;
// Names a hook, so that it can be removed.
enum class HookId : std::uint64_t {};

}  // namespace distrun::autograd

namespace distrun {
using autograd::HookId;
}  // namespace distrun
