#include <distrun/runtime/profiler/profile.hpp>

#include <utility>

#include <distrun/runtime/core/thread_state.hpp>
#include <distrun/runtime/profiler/chrome_trace.hpp>
#include <distrun/runtime/profiler/recorder.hpp>

namespace distrun::profiler {

Profile::Profile(const ProfileOptions& options)
    : around_(core::thread_state().profiler), recorder_(std::make_shared<const Recorder>(options)) {
  core::thread_state().profiler = recorder_;
}

// Removes only what this scope has set: scopes that end out of order, or on another thread, leave each other's state
// alone.
void Profile::end() noexcept {
  recorder_->close();
  std::shared_ptr<const void>& current = core::thread_state().profiler;
  if (current == recorder_) current = std::move(around_);
}

Events Profile::events() const { return recorder_->events(); }

void Profile::export_chrome_trace(const std::string& path) const { write_chrome_trace(path, events()); }

std::uint64_t Profile::not_kept() const { return recorder_->not_kept(); }

}  // namespace distrun::profiler
