#pragma once
// The one place through which others look at what autograd does: profiler, tracing. A hook is told when an operator
// begins and ends, and the same of each node of a backward pass. Without a hook it costs one load of a pointer.
#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include <distrun/runtime/tensor/core/called_operator.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::autograd {

enum class ScopeKind : std::uint8_t { Operator, Node };

// What is entered. Good during enter() alone, but for `name` of an operator, which lives on.
struct Scope {
  ScopeKind kind = ScopeKind::Operator;
  std::string_view name;       // "mul"; "MulBackward0"
  std::uint64_t sequence = 0;  // of an operator: that of the node that it makes, if it makes one
  std::uint32_t thread = 0;    // of a node: number of the thread whose operator made it
  std::span<const Tensor* const> input_places;

  // Copies of the handles; undefined ones are left out.
  TensorList inputs() const;
};

// Any thread. enter() and leave() come in pairs on one thread, nested. Neither may throw.
class ScopeHook {
 public:
  virtual ~ScopeHook() = default;
  // What it returns is given to leave().
  virtual void* enter(const Scope& scope) noexcept = 0;
  virtual void leave(void* entered) noexcept = 0;
};

// Null: none. The hook must outlive every operator and pass that was begun before it was taken away. Returns the
// former.
ScopeHook* set_scope_hook(ScopeHook* hook) noexcept;

namespace detail {
extern constinit std::atomic<ScopeHook*> scope_hook;
}

// From here to the end of the block: the operator `name` at work on the inputs. Errors have its name.
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
