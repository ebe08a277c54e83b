#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/device/gpu.hpp>
#include <distrun/runtime/device/stream.hpp>

namespace distrun::device {

Event::Event(Event&& other) noexcept
    : options_(other.options_), device_(other.device_), id_(std::exchange(other.id_, EventId{})) {}

Event& Event::operator=(Event&& other) noexcept {
  std::swap(options_, other.options_);
  std::swap(device_, other.device_);
  std::swap(id_, other.id_);
  return *this;
}

Event::~Event() {
  if (!is_made() || (!device_.is_cpu() && is_gpu_inherited())) return;
  driver_of(device_).destroy_event(device_.index, id_);
}

void Event::make_on(Device device) {
  if (!is_made()) {
    id_ = driver_of(device).make_event(device.index, options_);
    device_ = device;
  }
  if (device != device_) {
    throw Error(ErrorKind::InvalidArgument, "an event of " + to_string(device_) + " cannot be recorded on " +
                                                to_string(device) +
                                                "; an event belongs to the device on which it is first recorded");
  }
}

void Event::record(Stream stream) {
  make_on(stream.device());
  stream.driver().record(stream.ref(), id_);
}

void Event::record() { record(current_stream(cuda(current_device()))); }

void Event::block(Stream stream) const {
  if (!is_made()) return;
  if (device_.is_cpu() || stream.device().is_cpu()) return synchronize();  // the CPU works synchronously
  stream.driver().wait(stream.ref(), id_);
}

bool Event::is_done() const { return !is_made() || driver_of(device_).is_done(id_); }

void Event::synchronize(base::Location site) const {
  if (!is_made() || device_.is_cpu()) return;
  board::WaitInfo info;
  info.kind = board::WaitKind::Event;
  const std::string name = "an event of " + to_string(device_);
  info.name = name;
  info.site = site;
  const core::Wait wait(info);
  driver_of(device_).synchronize(id_);
}

base::Nanoseconds Event::elapsed(const Event& until) const {
  if (!is_made() || !until.is_made()) {
    throw Error(ErrorKind::InvalidArgument, "both events must be recorded to measure the time between them");
  }
  if (device_ != until.device_) {
    throw Error(ErrorKind::InvalidArgument, "events of " + to_string(device_) + " and " + to_string(until.device_) +
                                                " cannot be compared: they belong to different devices");
  }
  return driver_of(device_).elapsed(id_, until.id_);
}

IpcHandle Event::export_handle(Device device) {
  make_on(device);
  return driver_of(device).export_event(id_);
}

Event Event::import_handle(Device device, const IpcHandle& handle) {
  Event event(EventOptions{.interprocess = true});
  event.id_ = driver_of(device).import_event(device.index, handle);
  event.device_ = device;
  return event;
}

}  // namespace distrun::device
