#pragma once
// The events of virtual devices: what each was last recorded for. Not thread-safe.
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
  std::shared_ptr<Point> point;         // of the last recording; null: none yet
  VectorClock clock;                    // what that stands for
  std::shared_ptr<SharedEvent> shared;  // other processes may have it too; then it has the last recording
};

class Events {
 public:
  EventId make(int device, EventOptions options);
  void destroy(EventId event) { events_.erase(event); }
  // Throw Error{InvalidArgument} for one that does not exist.
  Recorded& find(EventId event);
  // One that can tell times. Throws Error{InvalidArgument} if it cannot.
  const Recorded& find_timed(EventId event);

 private:
  std::map<EventId, Recorded> events_;
  std::uint64_t next_ = 1;
};

}  // namespace distrun::device::virtual_gpu
