#pragma once
// What makes devices work: memory, streams, events, copies, kernels, IPC. Three drivers implement it: cpu/ (one device,
// everything happens at once), virtual/ (devices emulated on the CPU: asynchronous streams, memory that host code
// can't touch, and a check of stream order), cuda/ (a module, opened on first use).
//
// `site` is where the work is asked for; without a line the stack of the call tells (runtime/core/call_site.hpp).
//
// A kernel is host code that works on device memory. cpu and virtual run that very code. A GPU cannot: cuda runs a
// kernel of its own for what it has one for (elementwise.hpp), which is fill, copy, add and mul. Else it runs the
// host's code on a copy of what it touches, in the stream's order (cuda/staging.hpp): right, but at the speed of the
// host and the bus. launch_statistics() tells which it was.
//
// A driver is the plain mechanism: no current device, no pools, no caching. Those are stream.hpp and allocator.hpp, the
// same for all drivers. Every call may come from any thread. Calls that put work on a stream return before it is done
// (cpu: after); what goes wrong while it runs is thrown by the next synchronize() of that stream, and stays.
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

struct Properties {
  std::string name;  // "NVIDIA H200", "virtual"
  std::string uuid;  // the same in every process of the machine
  std::size_t memory_bytes = 0;
  int multiprocessors = 0;
  std::uint64_t clock_hz = 0;  // of busy(): cycles a second
};

// A number of the driver's own; 0: no event.
enum class EventId : std::uint64_t {};

enum class Priority : std::uint8_t { Normal, High };

struct EventOptions {
  bool timing = false;
  bool interprocess = false;  // not with timing
};

// A piece of host code that works on device memory: what operators are on cpu and virtual. `regions` is all that it
// touches; it gets them with addresses that it may use, in the same order. It must not throw and not wait.
struct Kernel {
  const char* name = "";  // lives on; for reports
  std::vector<Region> regions;
  std::function<void(const std::vector<Region>&)> body;
  std::optional<Elementwise> elementwise;  // the same as the body, for drivers with kernels of their own
};

// How kernels were run since the driver was made, where the driver does not run host code itself.
struct LaunchStatistics {
  std::uint64_t own = 0;                                     // by kernels of the driver's own
  std::map<std::string, std::uint64_t, std::less<>> staged;  // through the host, by the kernel's name
};

// Bytes that another process opens. Good while the exporter keeps the memory or event.
struct IpcHandle {
  std::vector<std::byte> bytes;  // at most 256
};

class Driver {
 public:
  virtual ~Driver() = default;
  virtual std::string_view name() const noexcept = 0;  // "cpu", "virtual", "cuda"
  virtual int device_count() const noexcept = 0;
  virtual Properties properties(int device) const = 0;
  virtual bool can_access_peer(int device, int peer) const = 0;

  // At least 256-byte aligned. Throws Error{Overloaded, "OutOfMemoryError"} with the device, sizes and what is left.
  virtual void* allocate(int device, std::size_t bytes) = 0;
  // Waits for the device's work first, as cudaFree does.
  virtual void free(int device, void* memory) = 0;
  virtual std::size_t free_bytes(int device) const = 0;
  // What the caching allocator tells, for reports: a part of such memory is handed out, asked for at that site.
  virtual void block_taken(const void*, std::size_t, base::Location) {}
  // ... and is given back: nothing may be asked of it until it is handed out again.
  virtual void block_freed(const void*, std::size_t) noexcept {}
  // Host memory that copies of all devices reach without staging.
  virtual void* allocate_pinned(std::size_t bytes) = 0;
  virtual void free_pinned(void* memory) = 0;

  virtual StreamId make_stream(int device, Priority priority) = 0;
  virtual void destroy_stream(StreamRef stream) = 0;  // its work is still done
  virtual bool is_idle(StreamRef stream) = 0;
  virtual void synchronize(StreamRef stream) = 0;
  virtual void synchronize_device(int device) = 0;

  virtual EventId make_event(int device, EventOptions options) = 0;
  virtual void destroy_event(int device, EventId event) = 0;
  virtual void record(StreamRef stream, EventId event) = 0;  // the event stands for all that is on the stream by now
  virtual void wait(StreamRef stream, EventId event) = 0;    // what comes later on the stream waits; any device
  virtual bool is_done(EventId event) = 0;                   // never recorded: yes
  // What the caching allocator asks before it hands out memory again. Other than is_done() it tells the driver no more
  // than that this memory is free of what the event stands for.
  virtual bool is_done_with(const void*, std::size_t, EventId event) { return is_done(event); }
  virtual void synchronize(EventId event) = 0;
  // Throws Error{InvalidArgument} without timing, before both are recorded, or before both are done.
  virtual base::Nanoseconds elapsed(EventId from, EventId to) = 0;

  // Device or host memory on either side. From or to pageable host memory the call may wait for the stream; the host
  // side must live on until the work is done.
  virtual void copy(StreamRef stream, void* to, const void* from, std::size_t bytes,
                    base::Location site = base::Location::here()) = 0;
  virtual void fill(StreamRef stream, void* memory, int byte, std::size_t bytes,
                    base::Location site = base::Location::here()) = 0;
  // Throws Error{Overloaded, "OutOfMemoryError"} if the host has no room for what is staged; nothing is done then.
  virtual void launch(StreamRef stream, Kernel kernel, base::Location site = base::Location::here()) = 0;
  virtual LaunchStatistics launch_statistics() const { return {}; }
  // On a thread of the driver's, after what is on the stream. It must not use the driver.
  virtual void call_host(StreamRef stream, std::function<void()> body) = 0;
  // A kernel that does nothing for that long.
  virtual void busy(StreamRef stream, std::uint64_t cycles) = 0;

  // Of memory from allocate() (any address inside: the handle names the start, offset tells where the address is).
  virtual IpcHandle export_memory(const void* memory, std::size_t* offset) = 0;
  virtual void* import_memory(int device, const IpcHandle& handle) = 0;
  virtual void close_imported(int device, void* memory) = 0;
  virtual IpcHandle export_event(EventId event) = 0;
  virtual EventId import_event(int device, const IpcHandle& handle) = 0;

  // Which device owns the memory; -1: the host does. What copies between tensors and RPC channels ask.
  virtual int device_of(const void* memory) const noexcept = 0;
  // For whoever has touched an address that nobody may: "device memory of cuda:1 (allocated at ring.cpp:12)", not
  // terminated; its length, 0 if the address is none of the driver's. Async-signal-safe.
  virtual std::size_t describe(const void*, char*, std::size_t) const noexcept { return 0; }
};

}  // namespace distrun::device
