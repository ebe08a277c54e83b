#pragma once
// The interface of drivers: memory, streams, events, copies, kernels, IPC. Three drivers implement it: cpu/ (one
// device, synchronous), virtual/ (devices emulated on the CPU: asynchronous streams, memory that host code can't touch,
// and a check of stream order), cuda/ (a module, opened on first use).
//
// `site` is where the work is requested; without a line it is taken from the call's stack (runtime/core/call_site.hpp).
//
// A kernel is host code that works on device memory. cpu and virtual run that code. A GPU cannot: cuda has kernels of
// its own for elementwise operations such as fill, copy, add and mul (elementwise.hpp). For others it runs the host's
// code on a copy of the memory, in the stream's order (cuda/staging.hpp): correct, but at the speed of the host and the
// bus. launch_statistics() counts both.
//
// A driver is a plain mechanism: no current device, no pools, no caching. Those are in stream.hpp and allocator.hpp,
// common to all drivers. Thread-safe. Calls that put work on a stream return before it is done (cpu: after); an error
// of the work is thrown by every later synchronize() of that stream.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/location.hpp>
#include <distrun/runtime/device/device.hpp>
#include <distrun/runtime/device/elementwise.hpp>
#include <distrun/runtime/device/memory/region.hpp>

namespace distrun::device {

// What a device is.
struct Properties {
  std::string name;              // "NVIDIA H200", "virtual"
  std::string uuid;              // the same in every process of the machine
  std::size_t memory_bytes = 0;  // of the whole device
  int multiprocessors = 0;       // as CUDA counts them
  std::uint64_t clock_hz = 0;    // cycles per second, for busy()
};

// Chosen by the driver; 0: no event.
enum class EventId : std::uint64_t {};

// The priority of a stream: pending work of High runs first.
enum class Priority : std::uint8_t { Normal, High };

// What an event can do besides marking a point.
struct EventOptions {
  bool timing = false;        // for Event::elapsed()
  bool interprocess = false;  // not with timing
};

// Host code that works on device memory: cpu and virtual implement operators by it. `regions` lists all memory that it
// touches; the body gets them in the same order, with addresses that it may use. It must not throw or wait.
struct Kernel {
  const char* name = "";                                 // for reports; must live until the process ends
  std::vector<Region> regions;                           // all memory that the body touches
  std::function<void(const std::vector<Region>&)> body;  // gets the regions, in the same order
  std::optional<Elementwise> elementwise;                // the same as the body, for drivers with separate kernels
};

// How a driver that does not run host code itself has run kernels since its creation.
struct LaunchStatistics {
  std::uint64_t own = 0;                                     // by the driver's kernels
  std::map<std::string, std::uint64_t, std::less<>> staged;  // through the host, by the kernel's name
};

// Bytes with which another process opens memory or an event. Valid while the exporter keeps it.
struct IpcHandle {
  std::vector<std::byte> bytes;  // at most 256
};

// A driver of devices; see the top of this header. Thread-safe. Devices are numbered from 0.
class Driver {
 public:
  virtual ~Driver() = default;
  virtual std::string_view name() const noexcept = 0;            // "cpu", "virtual", "cuda"
  virtual int device_count() const noexcept = 0;                 // 0 if there are none
  virtual Properties properties(int device) const = 0;           // of one device
  virtual bool can_access_peer(int device, int peer) const = 0;  // kernels of `device` may use memory of `peer`

  // At least 256-byte aligned. Throws Error{Overloaded, "OutOfMemoryError"} with the device, the sizes and the free
  // memory.
  virtual void* allocate(int device, std::size_t bytes) = 0;
  // Waits for the device's work first, as cudaFree does.
  virtual void free(int device, void* memory) = 0;
  virtual std::size_t free_bytes(int device) const = 0;  // of the device, now
  // Reported by the caching allocator: a part of such memory is handed out, requested at that site.
  virtual void block_taken(const void*, std::size_t, base::Location) {}
  // Reported by the caching allocator: that part is returned, and must not be used until it is handed out again.
  virtual void block_freed(const void*, std::size_t) noexcept {}
  // Allocates host memory that copies of all devices reach without staging.
  virtual void* allocate_pinned(std::size_t bytes) = 0;
  virtual void free_pinned(void* memory) = 0;  // from allocate_pinned()

  virtual StreamId make_stream(int device, Priority priority) = 0;  // until destroy_stream()
  virtual void destroy_stream(StreamRef stream) = 0;                // pending work still completes
  virtual bool is_idle(StreamRef stream) = 0;                       // has no pending work
  // Blocks until the present work of the stream is done. Throws the error of its work, every time.
  virtual void synchronize(StreamRef stream) = 0;
  // Blocks until the present work of all streams is done.
  virtual void synchronize_device(int device) = 0;

  virtual EventId make_event(int device, EventOptions options) = 0;  // until destroy_event()
  virtual void destroy_event(int device, EventId event) = 0;         // may be pending
  virtual void record(StreamRef stream, EventId event) = 0;  // the event stands for all present work of the stream
  virtual void wait(StreamRef stream, EventId event) = 0;    // later work of the stream waits; any device
  virtual bool is_done(EventId event) = 0;                   // true if never recorded
  // Called by the caching allocator before it reuses memory. Unlike is_done() it tells the driver only that this memory
  // is no longer used by the work before the event.
  virtual bool is_done_with(const void*, std::size_t, EventId event) { return is_done(event); }
  // Blocks until the event is done.
  virtual void synchronize(EventId event) = 0;
  // Throws Error{InvalidArgument} without timing, before both are recorded, or before both are done.
  virtual base::Nanoseconds elapsed(EventId from, EventId to) = 0;

  // Copies between device and host memory in any combination. With pageable host memory the call may wait for the
  // stream. Host memory must live until the copy is done.
  virtual void copy(StreamRef stream, void* to, const void* from, std::size_t bytes,
                    base::Location site = base::Location::here()) = 0;
  // Sets bytes of device memory, in the order of the stream.
  virtual void fill(StreamRef stream, void* memory, int byte, std::size_t bytes,
                    base::Location site = base::Location::here()) = 0;
  // Runs a kernel in the order of the stream. Throws Error{Overloaded, "OutOfMemoryError"} if the host has no memory
  // for staging; nothing is done then.
  virtual void launch(StreamRef stream, Kernel kernel, base::Location site = base::Location::here()) = 0;
  virtual LaunchStatistics launch_statistics() const { return {}; }  // since the driver was created
  // Calls `body` on a thread of the driver, after the present work of the stream. It must not use the driver.
  virtual void call_host(StreamRef stream, std::function<void()> body) = 0;
  // Runs a kernel that does nothing for that long.
  virtual void busy(StreamRef stream, std::uint64_t cycles) = 0;

  // Exports memory from allocate(). Any address inside will do: the handle names the start, offset is the distance to
  // it.
  virtual IpcHandle export_memory(const void* memory, std::size_t* offset) = 0;
  // Opens memory that another process has exported, until close_imported(). Returns its start.
  virtual void* import_memory(int device, const IpcHandle& handle) = 0;
  // Closes memory of import_memory().
  virtual void close_imported(int device, void* memory) = 0;
  // Exports an event that was created with `interprocess`.
  virtual IpcHandle export_event(EventId event) = 0;
  // Opens an event that another process has exported, until destroy_event().
  virtual EventId import_event(int device, const IpcHandle& handle) = 0;

  // Returns the device that owns the memory; -1: the host. Used by copies between tensors and by RPC channels.
  virtual int device_of(const void* memory) const noexcept = 0;
  // Describes an address for reports of faults: "device memory of cuda:1 (allocated at ring.cpp:12)", not terminated.
  // Returns its length, 0 if the address does not belong to the driver. Async-signal-safe.
  virtual std::size_t describe(const void*, char*, std::size_t) const noexcept { return 0; }
};

}  // namespace distrun::device
