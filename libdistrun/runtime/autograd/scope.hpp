#pragma once
// The one interface through which profilers and tracers observe autograd. A hook is notified when an operator or a node
// of a backward pass begins and ends. Without a hook this costs one load of a pointer.
#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include <distrun/runtime/tensor/core/called_operator.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::autograd {

enum class ScopeKind : std::uint8_t { Operator, Node };

// The operator or node that is entered. Valid only during enter(), except an operator's `name`, which lives on.
struct Scope {
  ScopeKind kind = ScopeKind::Operator;
  std::string_view name;       // "mul"; "MulBackward0"
  std::uint64_t sequence = 0;  // of an operator: that of the node that it creates, if any
  std::uint32_t thread = 0;    // of a node: number of the thread that created it
  std::span<const Tensor* const> input_places;

  // Copies of the handles; undefined ones are left out.
  TensorList inputs() const;
};

// Thread-safe. enter() and leave() are called in nested pairs on one thread. Neither may throw.
class ScopeHook {
 public:
  virtual ~ScopeHook() = default;
  // Its result is passed to leave().
  virtual void* enter(const Scope& scope) noexcept = 0;
  virtual void leave(void* entered) noexcept = 0;
};

// Sets the hook (null: none) and returns the former one. The hook must outlive every operator and pass that began
// before it was removed.
ScopeHook* set_scope_hook(ScopeHook* hook) noexcept;

namespace detail {
extern constinit std::atomic<ScopeHook*> scope_hook;
}

// Marks the rest of the block as the operator `name` on these inputs. Errors in it name the operator.
class OperatorScope {
 public:
  template <class... Inputs>
  explicit OperatorScope(const char* name, const Inputs&... inputs) noexcept
      : called_(name), hook_(detail::scope_hook.load(std::memory_order_acquire)) {
    if (hook_ != nullptr) [[unlikely]] {
      const Tensor* const pointers[] = {&inputs..., nullptr};
      enter(name, pointers, sizeof...(inputs));
    }
  }
  OperatorScope(const char* name, const TensorList& inputs) noexcept;
  ~OperatorScope() {
    if (hook_ != nullptr) [[unlikely]]
      hook_->leave(entered_);
  }
  OperatorScope(const OperatorScope&) = delete;
  OperatorScope& operator=(const OperatorScope&) = delete;

 private:
  void enter(const char* name, const Tensor* const* inputs, std::size_t count) noexcept;

  const tensor::CalledOperator called_;
  ScopeHook* const hook_;
  void* entered_ = nullptr;
};

}  // namespace distrun::autograd
