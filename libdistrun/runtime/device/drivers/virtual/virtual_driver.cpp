#include <distrun/runtime/device/drivers/virtual/virtual_driver.hpp>

#include <distrun/common/base/error.hpp>

namespace distrun::device {
namespace virtual_gpu {

VirtualDriver::VirtualDriver(const VirtualSettings& settings)
    : settings_(settings), space_(settings.devices, settings.memory_bytes), scheduler_(settings.seed) {
  for (int device = 0; device < settings.devices; ++device) open_stream({device, StreamId{}}, Priority::Normal);
}

Properties VirtualDriver::properties(int device) const {
  check_device(device);
  Properties properties;
  properties.name = "virtual";
  properties.uuid = "virtual-" + std::to_string(settings_.first + device);
  properties.memory_bytes = settings_.memory_bytes;
  properties.multiprocessors = 1;
  properties.clock_hz = kClockHz;
  return properties;
}

void VirtualDriver::check_device(int device) const {
  if (device >= 0 && device < settings_.devices) return;
  throw Error(ErrorKind::InvalidArgument, to_string(cuda(device)) + " does not exist; the virtual driver has " +
                                              std::to_string(settings_.devices) + " devices");
}

// ---- memory

void* VirtualDriver::allocate(int device, std::size_t bytes) {
  check_device(device);
  return space_.allocate(device, bytes);
}

void VirtualDriver::free(int device, void* memory) {
  check_device(device);
  const AddressPlace place = space_.place(memory, 0);
  try {
    scheduler_.synchronize_device(device);
  } catch (const base::Error&) {
    // Reported by its stream; the memory is freed all the same.
  }
  const std::lock_guard lock(mutex_);
  if (settings_.check_order && place.device >= 0) {
    const Region all = flat_region(place.allocation.begin, place.allocation.bytes, Access::Write);
    check_.forget(*lattice_of(all), known_of_device(device));
  }
  space_.free(device, memory, core::call_site({}));
  exchange_.forget(memory);
}

void VirtualDriver::block_taken(const void* memory, std::size_t bytes, base::Location site) {
  space_.name_block(memory, bytes, asked_at(site));
}

// Only if the order is checked: taking a stack at every free is expensive.
void VirtualDriver::block_freed(const void* memory, std::size_t bytes) noexcept {
  if (!settings_.check_order) return;
  try {
    space_.free_block(memory, bytes, core::call_site({}));
  } catch (const std::exception&) {  // no memory for the stack: freed at an unknown site
    space_.free_block(memory, bytes, {});
  }
}

// ---- streams

void VirtualDriver::open_stream(StreamRef stream, Priority priority) {
  numbers_[stream] = check_.add_stream(to_string(stream));
  scheduler_.open(stream, priority);
}

StreamId VirtualDriver::make_stream(int device, Priority priority) {
  check_device(device);
  const std::lock_guard lock(mutex_);
  const StreamId stream{next_stream_++};
  open_stream({device, stream}, priority);
  return stream;
}

void VirtualDriver::destroy_stream(StreamRef stream) {
  if (stream.id == StreamId{}) throw Error(ErrorKind::InvalidArgument, "a default stream is never destroyed");
  const std::lock_guard lock(mutex_);
  scheduler_.close(stream);
  closed_[stream.device].join(check_.clock_of(number_of(stream)));
  numbers_.erase(stream);
}

std::size_t VirtualDriver::number_of(StreamRef stream) const {
  const auto found = numbers_.find(stream);
  if (found == numbers_.end()) {
    throw Error(ErrorKind::InvalidArgument, to_string(stream) + " does not exist or was destroyed");
  }
  return found->second;
}

VectorClock VirtualDriver::known_of(StreamRef stream) {
  const std::lock_guard lock(mutex_);
  return settings_.check_order ? check_.clock_of(number_of(stream)) : VectorClock();
}

VectorClock VirtualDriver::known_of_device(int device) {
  VectorClock known = closed_[device];
  for (const auto& [stream, number] : numbers_) {
    if (stream.device == device) known.join(check_.clock_of(number));
  }
  return known;
}

void VirtualDriver::host_saw(const VectorClock& known) {
  if (!settings_.check_order) return;
  const std::lock_guard lock(mutex_);
  check_.host_saw(known);
  exchange_.host_saw(known);
}

bool VirtualDriver::is_idle(StreamRef stream) {
  const VectorClock known = known_of(stream);
  const bool idle = scheduler_.is_idle(stream);
  if (idle) host_saw(known);
  return idle;
}

void VirtualDriver::synchronize(StreamRef stream) {
  const VectorClock known = known_of(stream);
  scheduler_.synchronize(stream);
  host_saw(known);
}

void VirtualDriver::synchronize_device(int device) {
  check_device(device);
  VectorClock known;
  {
    const std::lock_guard lock(mutex_);
    if (settings_.check_order) known = known_of_device(device);
  }
  scheduler_.synchronize_device(device);
  host_saw(known);
}

// ---- events

EventId VirtualDriver::make_event(int device, EventOptions options) {
  check_device(device);
  const std::lock_guard lock(mutex_);
  const EventId event = events_.make(device, options);
  if (options.interprocess) events_.find(event).shared = exchange_.make_event();
  return event;
}

Recorded VirtualDriver::last_recording(EventId event) {
  Recorded recorded = events_.find(event);
  const bool is_own =
      recorded.shared == nullptr || (recorded.point != nullptr && exchange_.is_own_recording(recorded.shared));
  if (!is_own) recorded.point = exchange_.last_recording(recorded.shared, recorded.clock);
  return recorded;
}

void VirtualDriver::destroy_event(int, EventId event) {
  const std::lock_guard lock(mutex_);
  exchange_.release(events_.find(event).shared);
  events_.destroy(event);
}

void VirtualDriver::record(StreamRef stream, EventId event) {
  const std::lock_guard lock(mutex_);
  Recorded& recorded = events_.find(event);
  if (recorded.device != stream.device) {
    throw Error(ErrorKind::InvalidArgument, "an event of " + to_string(cuda(recorded.device)) +
                                                " cannot be recorded on " + to_string(cuda(stream.device)));
  }
  const std::size_t number = number_of(stream);  // refuses a destroyed stream before anything changes
  Work work;
  work.kind = Work::Kind::Record;
  work.point = std::make_shared<Point>();
  if (settings_.check_order) recorded.clock = check_.clock_of(number);
  if (recorded.shared != nullptr) exchange_.record(recorded.shared, recorded.clock, *work.point);
  recorded.point = work.point;
  scheduler_.push(stream, std::move(work));
}

void VirtualDriver::wait(StreamRef stream, EventId event) {
  const std::lock_guard lock(mutex_);
  const Recorded recorded = last_recording(event);
  if (recorded.point == nullptr) return;
  Work work;
  work.kind = Work::Kind::Wait;
  work.point = recorded.point;
  if (settings_.check_order) check_.wait(number_of(stream), recorded.clock);
  scheduler_.push(stream, std::move(work));
}

bool VirtualDriver::is_done(EventId event) {
  const std::lock_guard lock(mutex_);
  const Recorded recorded = last_recording(event);
  if (recorded.point == nullptr) return true;
  const bool done = scheduler_.is_done(recorded.point);
  if (done && settings_.check_order) {
    check_.host_saw(recorded.clock);
    exchange_.host_saw(recorded.clock);
  }
  return done;
}

bool VirtualDriver::is_done_with(const void* memory, std::size_t bytes, EventId event) {
  const std::lock_guard lock(mutex_);
  const Recorded& recorded = events_.find(event);
  if (recorded.point != nullptr && !scheduler_.is_done(recorded.point)) return false;
  if (settings_.check_order) check_.forget(*lattice_of(flat_region(memory, bytes, Access::Write)), recorded.clock);
  return true;
}

void VirtualDriver::synchronize(EventId event) {
  Recorded recorded;
  {
    const std::lock_guard lock(mutex_);
    recorded = last_recording(event);
  }
  if (recorded.point == nullptr) return;
  scheduler_.synchronize(recorded.point);
  host_saw(recorded.clock);
}

base::Nanoseconds VirtualDriver::elapsed(EventId from, EventId to) {
  const std::lock_guard lock(mutex_);
  const auto first = scheduler_.time_of(events_.find_timed(from).point);
  const auto last = scheduler_.time_of(events_.find_timed(to).point);
  if (!first || !last) {
    throw Error(ErrorKind::InvalidArgument,
                "both events must be complete to measure the time between them; synchronize first");
  }
  return *last - *first;
}

}  // namespace virtual_gpu

std::unique_ptr<Driver> make_virtual_driver(const VirtualSettings& settings) {
  return std::make_unique<virtual_gpu::VirtualDriver>(settings);
}

}  // namespace distrun::device
