#include <distrun/runtime/device/drivers/virtual/events.hpp>

#include <distrun/common/base/error.hpp>

namespace distrun::device::virtual_gpu {

EventId Events::make(int device, EventOptions options) {
  if (options.timing && options.interprocess) {
    throw Error(ErrorKind::InvalidArgument, "an event for other processes cannot have timing");
  }
  const EventId event{next_++};
  Recorded& recorded = events_[event];
  recorded.device = device;
  recorded.options = options;
  return event;
}

Recorded& Events::find(EventId event) {
  const auto found = events_.find(event);
  if (found == events_.end()) throw Error(ErrorKind::InvalidArgument, "the event does not exist or was destroyed");
  return found->second;
}

const Recorded& Events::find_timed(EventId event) {
  const Recorded& recorded = find(event);
  if (!recorded.options.timing) {
    throw Error(ErrorKind::InvalidArgument, "both events must be created with timing to measure the time between them");
  }
  if (recorded.point == nullptr) {
    throw Error(ErrorKind::InvalidArgument, "both events must be recorded to measure the time between them");
  }
  return recorded;
}

}  // namespace distrun::device::virtual_gpu
