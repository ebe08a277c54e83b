#include <distrun/runtime/attach/operator_trace.hpp>

#include <distrun/runtime/autograd/scope.hpp>
#include <distrun/runtime/core/tracing.hpp>

namespace distrun::runtime {
namespace {

// enter() returns the number of the slice.
static_assert(sizeof(void*) >= sizeof(std::uint64_t));

class OperatorTrace final : public autograd::ScopeHook {
 public:
  void* enter(const autograd::Scope& scope) noexcept override {
    trace::Writer* const writer = core::tracer();
    if (writer == nullptr) return nullptr;
    trace::SliceInfo info;
    info.kind = trace::Kind::Operator;
    info.name = scope.name;
    return reinterpret_cast<void*>(writer->begin(info));
  }
  void leave(void* entered) noexcept override {
    if (trace::Writer* const writer = core::tracer()) writer->end(reinterpret_cast<std::uint64_t>(entered));
  }
};

}  // namespace

void trace_operators() {
  static auto* const hook = new OperatorTrace;  // operators that began under it also end under it
  static autograd::ScopeHook* const before = autograd::set_scope_hook(hook);
  static_cast<void>(before);
}

}  // namespace distrun::runtime
