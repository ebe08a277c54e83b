#pragma once
// The hooks of one node. Most nodes have none, so they stand in an object of their own.
#include <mutex>
#include <variant>
#include <vector>

#include <distrun/runtime/autograd/hooks.hpp>

namespace distrun::autograd {

// Any thread. A hook that is added or removed while hooks run counts from the next run on.
class NodeHooks {
 public:
  HookId add_tensor_hook(std::uint32_t input, TensorHook hook);
  HookId add_pre_hook(PreHook hook);
  HookId add_post_hook(PostHook hook);
  bool remove(HookId hook) noexcept;
  bool has(HookId hook) const noexcept;

  // What the hooks make of a node's gradients, before it. Throws Error{InvalidArgument} when one returns another number
  // of them, when one of a tensor returns a gradient of another size, dtype, layout or device, and what hooks throw.
  Gradients before(Gradients gradients) const;
  // What they make of its results; `gradients` is what the node got.
  Gradients after(Gradients results, const Gradients& gradients) const;
  bool has_post_hooks() const;

 private:
  struct OfTensor {
    HookId id;
    std::uint32_t input;
    TensorHook hook;
  };
  struct Before {
    HookId id;
    PreHook hook;
  };
  struct After {
    HookId id;
    PostHook hook;
  };

  mutable std::mutex mutex_;  // guards the lists, and is not held while a hook runs
  std::vector<OfTensor> of_tensors_;
  std::vector<Before> before_;
  std::vector<After> after_;
};

}  // namespace distrun::autograd
