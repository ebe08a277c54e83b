#include <distrun/runtime/profiler/recorder.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace distrun::profiler {

void Recorder::add(Event event) const noexcept {
  const std::lock_guard lock(mutex_);
  if (events_.size() >= limit_) return void(++not_kept_);
  try {
    events_.push_back(std::move(event));
  } catch (const std::bad_alloc&) {
    ++not_kept_;
  }
}

std::vector<Event> Recorder::events() const {
  std::vector<Event> events;
  {
    const std::lock_guard lock(mutex_);
    events = events_;
  }
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.begin < b.begin; });
  return events;
}

std::uint64_t Recorder::not_kept() const {
  const std::lock_guard lock(mutex_);
  return not_kept_;
}

}  // namespace distrun::profiler
