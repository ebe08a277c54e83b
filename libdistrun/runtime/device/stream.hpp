#pragma once
// Streams and events as tests use them, on whatever driver the process has, and the calling thread's current ones.
// The current device and the current stream of each device belong to the thread; they travel to other threads with its
// ThreadState only (runtime/core/thread_state.hpp).
#include <memory>
#include <string>
#include <string_view>

#include <distrun/runtime/device/driver.hpp>

namespace distrun::device {

// "cpu", "cuda:1", or "cuda" for the calling thread's current one. Throws Error{InvalidArgument} for anything else;
// does not ask whether the device exists.
Device parse_device(std::string_view text);
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
  // For Memory::record_stream(): the CPU's is that of no GPU.
  operator StreamRef() const noexcept { return device_.is_cpu() ? kNoStream : ref(); }  // NOLINT(google-explicit-*)
  Driver& driver() const { return driver_of(device_); }
  bool is_idle() const { return driver().is_idle(ref()); }
  // Shows itself on the board. Throws what has gone wrong on the stream, every time.
  void synchronize(base::Location site = base::Location::here()) const;
  friend auto operator<=>(const Stream&, const Stream&) = default;

 private:
  Device device_;
  StreamId id_{};
};
std::string to_string(Stream stream);  // "cuda:0 stream 3"

Stream default_stream(Device device);
Stream current_stream(Device device);
void set_current_stream(Stream stream);
// The next of the device's pool, round robin: 32 of each priority.
Stream stream_from_pool(Device device, Priority priority = Priority::Normal);
// A stream of the caller's own that nobody else gets, until destroy_stream().
Stream make_stream(Device device, Priority priority = Priority::Normal);
void destroy_stream(Stream stream);

int current_device() noexcept;  // among the GPUs
// Throws Error{InvalidArgument} for one that is not there, with what is.
void set_current_device(int index);
// Waits for all that is on the device's streams by now. Shows itself on the board.
void synchronize(Device device, base::Location site = base::Location::here());

// A point on a stream. Made on the device of the first stream that it is recorded on, and recorded there only. Until it
// is recorded it is done, and nobody waits for it. Owned by one; threads may share it.
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
  void synchronize(base::Location site = base::Location::here()) const;  // shows itself on the board
  // From this one to the other; both are made with timing, recorded and done, else it throws Error{InvalidArgument}.
  base::Nanoseconds elapsed(const Event& until) const;
  // Of an event that was made with `interprocess`. Throws Error{InvalidArgument} for others.
  IpcHandle export_handle(Device device);
  static Event import_handle(Device device, const IpcHandle& handle);

 private:
  bool is_made() const noexcept { return id_ != EventId{}; }
  void make_on(Device device);

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
