#pragma once
// The functions that may read and replace gradients during a pass.
#include <cstdint>
#include <functional>

#include <distrun/runtime/autograd/inline_vector.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::autograd {

// Gradients of a node's inputs or of its results; undefined ones stand for zeros. Copies share the tensors.
using Gradients = InlineVector<Tensor, 2>;

// Called with the gradient of one tensor; a defined result replaces it, and must have its size, dtype, layout and
// device.
using TensorHook = std::function<Tensor(const Tensor&)>;
// A PreHook is called before a node with the node's gradients, a PostHook after it with its results and its gradients.
// The returned list replaces them.
using PreHook = std::function<TensorList(TensorList)>;
using PostHook = std::function<TensorList(TensorList results, const TensorList& gradients)>;
// Identifies a hook for its removal.
enum class HookId : std::uint64_t {};

}  // namespace distrun::autograd

namespace distrun {
using autograd::HookId;
}  // namespace distrun
