#pragma once
// Streams and events as tests use them, on whatever driver the process has, and the calling thread's current ones.
// The current device and the current stream of each device belong to the thread; they travel to other threads with its
// ThreadState only (thread_state.hpp).
#include <memory>
#include <string>

#include <distrun/device/driver.hpp>

namespace distrun::device {

// The driver of a device: the cpu's, or the GPU driver (gpu.hpp). Throws Error{InvalidArgument} for a device that is
// not there, with what is.
Driver& driver_of(Device device);

// A value: the name of a queue of work. Streams from the pool are never destroyed.
class Stream {
 public:
  Stream() = default;  // the CPU's
  Stream(Device device, StreamId id) : device_(device), id_(id) {}

  Device device() const noexcept { return device_; }
  StreamRef ref() const noexcept { return {device_.index, id_}; }
  Driver& driver() const { return driver_of(device_); }
  bool is_idle() const { return driver().is_idle(ref()); }
  void synchronize() const;  // shows itself on the board
  friend auto operator<=>(const Stream&, const Stream&) = default;

 private:
  Device device_;
  StreamId id_{};
};
std::string to_string(Stream stream);  // "cuda:0 stream 3"

Stream default_stream(Device device);
Stream current_stream(Device device);
void set_current_stream(Stream stream) noexcept;
// The next of the device's pool, round robin: 32 of each priority.
Stream stream_from_pool(Device device, Priority priority = Priority::Normal);
// A stream of the caller's own that nobody else gets; destroyed by destroy_stream().
Stream make_stream(Device device, Priority priority = Priority::Normal);

int current_device() noexcept;  // among the GPUs
void set_current_device(int index);
void synchronize(Device device);

// Made on the device of the first stream that it is recorded on.
class Event {
 public:
  explicit Event(EventOptions options = {}) : options_(options) {}
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;
  ~Event();

  void record(Stream stream);
  void record();                    // on the current stream of the current device
  void block(Stream stream) const;  // what comes later on the stream waits for the event
  bool is_done() const;
  void synchronize() const;  // shows itself on the board
  base::Nanoseconds elapsed(const Event& until) const;
  IpcHandle export_handle(Device device);
  static Event import_handle(Device device, const IpcHandle& handle);

 private:
  EventOptions options_;
  Device device_;
  EventId id_{};
};

// For a scope: the device is current, and restored after it.
class DeviceGuard {
 public:
  explicit DeviceGuard(Device device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int before_;
};

// For a scope: the stream is its device's current one, and the device is current.
class StreamGuard {
 public:
  explicit StreamGuard(Stream stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  Stream before_;
  int device_before_;
};

}  // namespace distrun::device

namespace distrun {
using device::Event;
using device::Stream;
}  // namespace distrun
