#include <distrun/runtime/profiler/record_function.hpp>

#include <distrun/common/base/error.hpp>

namespace distrun::profiler {

RecordFunction::RecordFunction(std::string_view name, std::string_view arguments)
    : scope_(std::make_shared<Scope>(name)) {
  if (!arguments.empty()) scope_->span.add_note("arguments", std::string(arguments));
}

void RecordFunction::claim() const {
  if (!scope_->is_claimed.exchange(true)) return;
  throw Error(ErrorKind::Failed, "RuntimeError", "_call_end_callbacks_on_future can only be called once.");
}

void RecordFunction::end() const noexcept {
  if (!scope_->is_claimed.load()) scope_->span.end();
}

}  // namespace distrun::profiler
