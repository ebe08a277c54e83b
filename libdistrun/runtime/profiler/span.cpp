#include <distrun/runtime/profiler/span.hpp>

#include <unistd.h>

#include <utility>

#include <distrun/runtime/profiler/recorder.hpp>

namespace distrun::profiler {
namespace {

std::int32_t thread_number() noexcept {
  static thread_local const std::int32_t number = ::gettid();
  return number;
}

}  // namespace

void Span::begin(std::string_view name) {
  auto recorder = std::static_pointer_cast<const Recorder>(core::thread_state().profiler);
  if (!recorder->is_open()) return;  // of a scope that is over, in what goes on from it
  recorder_ = std::move(recorder);
  event_.name = name;
  event_.thread = thread_number();
  event_.begin = base::system_clock().now();
}

void Span::end() noexcept {
  const auto recorder = std::exchange(recorder_, nullptr);
  if (recorder == nullptr || event_.name.empty()) return;
  event_.end = base::system_clock().now();
  recorder->add(std::move(event_));
}

}  // namespace distrun::profiler
