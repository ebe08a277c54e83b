#pragma once
// Which streams still work on a piece of memory that its owner has let go of. While it is in use, streams are added;
// when it is let go of, an event on each says how far they are; it is free when all of those are done.
#include <map>
#include <vector>

#include <distrun/runtime/device/driver.hpp>

namespace distrun::device {

// Events that serve again. Not thread-safe.
class EventPool {
 public:
  explicit EventPool(Driver& driver) : driver_(driver) {}
  ~EventPool();
  EventPool(const EventPool&) = delete;
  EventPool& operator=(const EventPool&) = delete;

  Driver& driver() const noexcept { return driver_; }
  // What is on the stream by now. Throws what the driver throws.
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
  // From here on the streams of now are waited for. For one that does not exist any more it blocks.
  void close(EventPool& pool) noexcept;
  // Whether all that were waited for are done with [memory, memory + bytes); then it is as new.
  bool is_over(EventPool& pool, const void* memory, std::size_t bytes);
  // Blocks until then, unseen; for when memory has run out.
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
