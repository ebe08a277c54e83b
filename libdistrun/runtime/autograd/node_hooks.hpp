#pragma once
// The hooks of one node. They are a separate object because most nodes have none.
#include <mutex>
#include <variant>
#include <vector>

#include <distrun/runtime/autograd/hooks.hpp>

namespace distrun::autograd {

// Thread-safe. Adding or removing a hook while hooks run takes effect at the next run.
class NodeHooks {
 public:
  HookId add_tensor_hook(std::uint32_t input, TensorHook hook);
  HookId add_pre_hook(PreHook hook);
  HookId add_post_hook(PostHook hook);
  bool remove(HookId hook) noexcept;
  bool has(HookId hook) const noexcept;

  // Applies the hooks that run before a node to its gradients. Throws Error{InvalidArgument} if one returns another
  // number of gradients, or a tensor hook returns a gradient of another size, dtype, layout or device; and what hooks
  // throw.
  Gradients before(Gradients gradients) const;
  // Applies the post-hooks to the node's results; `gradients` are those that the node got.
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
