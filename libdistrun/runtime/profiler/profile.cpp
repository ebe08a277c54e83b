#include <distrun/runtime/profiler/profile.hpp>

#include <utility>

#include <distrun/runtime/core/thread_state.hpp>
#include <distrun/runtime/profiler/recorder.hpp>

namespace distrun::profiler {

Profile::Profile(std::size_t limit)
    : around_(core::thread_state().profiler), recorder_(std::make_shared<const Recorder>(limit)) {
  core::thread_state().profiler = recorder_;
}

// Only what the scope has put there is taken away: ended out of their order, or on another thread, scopes leave each
// other's.
void Profile::end() noexcept {
  recorder_->close();
  std::shared_ptr<const void>& current = core::thread_state().profiler;
  if (current == recorder_) current = std::move(around_);
}

std::vector<Event> Profile::events() const { return recorder_->events(); }

std::uint64_t Profile::not_kept() const { return recorder_->not_kept(); }

}  // namespace distrun::profiler
