#include <distrun/runtime/device/memory/stream_uses.hpp>

#include <algorithm>

#include <distrun/common/base/error.hpp>

namespace distrun::device {

EventPool::~EventPool() {
  for (const auto& [device, events] : events_) {
    for (const EventId event : events) driver_.destroy_event(device, event);
  }
}

EventId EventPool::take(int device) {
  std::vector<EventId>& events = events_[device];
  if (events.empty()) return driver_.make_event(device, {});
  const EventId event = events.back();
  events.pop_back();
  return event;
}

EventId EventPool::record(StreamRef stream) {
  const EventId event = take(stream.device);
  try {
    driver_.record(stream, event);
  } catch (const base::Error&) {
    give(stream.device, event);
    throw;
  }
  return event;
}

void StreamUses::add(StreamRef stream) {
  if (std::find(streams_.begin(), streams_.end(), stream) == streams_.end()) streams_.push_back(stream);
}

namespace {

void wait_for_device(Driver& driver, int device) noexcept {
  try {
    driver.synchronize_device(device);
  } catch (const base::Error&) {
    // Reported by the stream on which it happened.
  }
}

}  // namespace

void StreamUses::close(EventPool& pool) noexcept {
  for (const StreamRef stream : streams_) {
    try {
      pending_.push_back({stream.device, pool.record(stream)});
    } catch (const base::Error&) {
      wait_for_device(pool.driver(), stream.device);  // the stream no longer exists, but its work may still run
    }
  }
  streams_.clear();
}

bool StreamUses::is_over(EventPool& pool, const void* memory, std::size_t bytes) {
  while (!pending_.empty()) {
    const Pending last = pending_.back();
    if (!pool.driver().is_done_with(memory, bytes, last.event)) return false;
    pool.give(last.device, last.event);
    pending_.pop_back();
  }
  return true;
}

void StreamUses::wait(EventPool& pool) {
  for (const Pending& pending : pending_) {
    try {
      pool.driver().synchronize(pending.event);
    } catch (const base::Error&) {
      // Errors are reported by the stream, which no longer uses the memory.
    }
  }
}

}  // namespace distrun::device
