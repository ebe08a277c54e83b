#pragma once
// The streams that still use a piece of memory after its owner has released it. Streams are added while it is in use;
// at the release an event is recorded on each, and the memory is free when all these events are done.
#include <map>
#include <vector>

#include <distrun/runtime/device/driver.hpp>

namespace distrun::device {

// Reuses events. Not thread-safe.
class EventPool {
 public:
  explicit EventPool(Driver& driver) : driver_(driver) {}
  ~EventPool();
  EventPool(const EventPool&) = delete;
  EventPool& operator=(const EventPool&) = delete;

  Driver& driver() const noexcept { return driver_; }
  // Records the present work of the stream. Throws what the driver throws.
  EventId record(StreamRef stream);
  void give(int device, EventId event) { events_[device].push_back(event); }

 private:
  EventId take(int device);

  Driver& driver_;
  std::map<int, std::vector<EventId>> events_;
};

// Not thread-safe.
class StreamUses {
 public:
  void add(StreamRef stream);
  bool empty() const noexcept { return streams_.empty() && pending_.empty(); }
  // Records an event on each stream added so far. Blocks for a stream that no longer exists.
  void close(EventPool& pool) noexcept;
  // Returns whether all these streams are done with [memory, memory + bytes); if so it can be used again.
  bool is_over(EventPool& pool, const void* memory, std::size_t bytes);
  // Blocks until all are done, recording no wait; used when memory has run out.
  void wait(EventPool& pool);

 private:
  struct Pending {
    int device;
    EventId event;
  };

  std::vector<StreamRef> streams_;
  std::vector<Pending> pending_;
};

}  // namespace distrun::device
