#pragma once
// The events of virtual devices, with their last recordings. Not thread-safe.
#include <map>
#include <memory>

#include <distrun/runtime/device/driver.hpp>
#include <distrun/runtime/device/drivers/virtual/scheduler.hpp>
#include <distrun/runtime/device/drivers/virtual/shared_area.hpp>
#include <distrun/runtime/device/drivers/virtual/vector_clock.hpp>

namespace distrun::device::virtual_gpu {

struct Recorded {
  int device = 0;
  EventOptions options;
  std::shared_ptr<Point> point;         // of the last recording; null: never recorded
  VectorClock clock;                    // the work that the recording covers
  std::shared_ptr<SharedEvent> shared;  // set if other processes may share it; it then has the last recording
};

class Events {
 public:
  EventId make(int device, EventOptions options);
  void destroy(EventId event) { events_.erase(event); }
  // Throws Error{InvalidArgument} if the event does not exist.
  Recorded& find(EventId event);
  // Throws Error{InvalidArgument} if the event does not exist or was created without timing.
  const Recorded& find_timed(EventId event);

 private:
  std::map<EventId, Recorded> events_;
  std::uint64_t next_ = 1;
};

}  // namespace distrun::device::virtual_gpu
