#pragma once
// Streams and events for tests, on the process's driver. The current device and the current stream of each device
// belong to the thread; they reach other threads only with its ThreadState (runtime/core/thread_state.hpp).
#include <memory>
#include <string>
#include <string_view>

#include <distrun/runtime/device/driver.hpp>

namespace distrun::device {

// Parses "cpu", "cuda:1", or "cuda" for the calling thread's current device. Throws Error{InvalidArgument} for anything
// else; does not check that the device exists.
Device parse_device(std::string_view text);
// Returns the driver of a device: the CPU's, or the GPU driver (gpu.hpp). Throws Error{InvalidArgument} for a device
// that does not exist; the error lists those that do.
Driver& driver_of(Device device);

// A value type: identifies a stream. Streams from the pool are never destroyed.
class Stream {
 public:
  Stream() = default;  // the CPU's
  Stream(Device device, StreamId id) : device_(device), id_(id) {}

  Device device() const noexcept { return device_; }               // of the stream
  StreamRef ref() const noexcept { return {device_.index, id_}; }  // for its driver
  // The CPU's stream belongs to no GPU, for Memory::record_stream().
  operator StreamRef() const noexcept { return device_.is_cpu() ? kNoStream : ref(); }  // NOLINT(google-explicit-*)
  Driver& driver() const { return driver_of(device_); }                                 // throws as driver_of()
  bool is_idle() const { return driver().is_idle(ref()); }                              // has no pending work
  // Blocks; recorded as a wait on the board. Throws an error of the stream every time.
  void synchronize(base::Location site = base::Location::here()) const;
  friend auto operator<=>(const Stream&, const Stream&) = default;

 private:
  Device device_;
  StreamId id_{};
};
std::string to_string(Stream stream);  // "cuda:0 stream 3"

// Returns the stream that a device has from the start.
Stream default_stream(Device device);
// Returns the calling thread's current stream of a device; initially the default stream.
Stream current_stream(Device device);
// Makes it the calling thread's current stream of its device.
void set_current_stream(Stream stream);
// Returns the next stream of the device's pool, round robin: 32 of each priority.
Stream stream_from_pool(Device device, Priority priority = Priority::Normal);
// Creates a stream that belongs to the caller alone, until destroy_stream().
Stream make_stream(Device device, Priority priority = Priority::Normal);
// Destroys a stream of make_stream(); pending work still completes.
void destroy_stream(Stream stream);

int current_device() noexcept;  // among the GPUs
// Throws Error{InvalidArgument} for a device that does not exist; the error lists those that do.
void set_current_device(int index);
// Blocks until the present work of all the device's streams is done. Recorded as a wait on the board.
void synchronize(Device device, base::Location site = base::Location::here());

// A point on a stream. Created on the device of the first stream that it is recorded on, and recorded only there.
// Before it is recorded it counts as done. Has one owner; threads may share it.
class Event {
 public:
  // Creates nothing on a device yet.
  explicit Event(EventOptions options = {}) : options_(options) {}
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;
  ~Event();

  // Marks the present work of a stream, in place of an earlier mark. Throws Error{InvalidArgument} for a stream of
  // another device than the first.
  void record(Stream stream);
  void record();                                                         // on the current stream of the current device
  void block(Stream stream) const;                                       // later work of the stream waits for the event
  bool is_done() const;                                                  // all marked work, or none was
  void synchronize(base::Location site = base::Location::here()) const;  // recorded as a wait on the board
  // Returns the time from this event to the other. Throws Error{InvalidArgument} unless both were created with timing,
  // are recorded and done.
  base::Nanoseconds elapsed(const Event& until) const;
  // Throws Error{InvalidArgument} unless the event was created with `interprocess`.
  IpcHandle export_handle(Device device);
  // Opens an event that another process has exported.
  static Event import_handle(Device device, const IpcHandle& handle);

 private:
  bool is_made() const noexcept { return id_ != EventId{}; }
  void make_on(Device device);

  EventOptions options_;
  Device device_;
  EventId id_{};
};

// Makes the device current for a scope, and then restores the former one.
class DeviceGuard {
 public:
  // Does nothing for the CPU. Create and destroy it on one thread.
  explicit DeviceGuard(Device device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int before_;
};

// Makes the stream its device's current one, and the device current, for a scope.
class StreamGuard {
 public:
  // Create and destroy it on one thread.
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
