#pragma once
// Devices like CUDA's, emulated by threads of the process: memory that host code can't touch (memory.hpp), asynchronous
// streams with random delays (scheduler.hpp), and a check of stream order (order_check.hpp). So tests written for
// devices run on machines without one, and their errors show.
//
// Requests are recorded under one lock, in the order of the calls; the host waits without it.
//
// Calls are in virtual_driver.cpp, those that put work on streams in virtual_work.cpp.
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <distrun/runtime/device/driver.hpp>
#include <distrun/runtime/device/drivers/virtual/address_space.hpp>
#include <distrun/runtime/device/drivers/virtual/events.hpp>
#include <distrun/runtime/device/drivers/virtual/exchange.hpp>
#include <distrun/runtime/device/drivers/virtual/order_check.hpp>
#include <distrun/runtime/device/drivers/virtual/scheduler.hpp>

namespace distrun::device {

struct VirtualSettings {
  int devices = 1;
  int first = 0;  // the machine's number of the first device, distinguishes devices of different processes
  std::uint64_t seed = 0;
  std::size_t memory_bytes = std::size_t{4} << 30;  // per device; untouched memory costs nothing
  bool check_order = false;                         // reports go to order_report.hpp
};

// Throws Error{Failed} if the host has no address space for the devices.
std::unique_ptr<Driver> make_virtual_driver(const VirtualSettings& settings);

}  // namespace distrun::device

namespace distrun::device::virtual_gpu {

inline constexpr std::uint64_t kClockHz = 1'000'000'000;

class VirtualDriver final : public Driver {
 public:
  explicit VirtualDriver(const VirtualSettings& settings);

  std::string_view name() const noexcept override { return "virtual"; }
  int device_count() const noexcept override { return settings_.devices; }
  Properties properties(int device) const override;
  bool can_access_peer(int, int) const override { return true; }

  void* allocate(int device, std::size_t bytes) override;
  void free(int device, void* memory) override;
  std::size_t free_bytes(int device) const override { return space_.free_bytes(device); }
  void* allocate_pinned(std::size_t bytes) override { return space_.allocate_pinned(bytes); }
  void free_pinned(void* memory) override { space_.free_pinned(memory); }
  void block_taken(const void* memory, std::size_t bytes, base::Location site) override;
  void block_freed(const void* memory, std::size_t bytes) noexcept override;

  StreamId make_stream(int device, Priority priority) override;
  void destroy_stream(StreamRef stream) override;
  bool is_idle(StreamRef stream) override;
  void synchronize(StreamRef stream) override;
  void synchronize_device(int device) override;

  EventId make_event(int device, EventOptions options) override;
  void destroy_event(int device, EventId event) override;
  void record(StreamRef stream, EventId event) override;
  void wait(StreamRef stream, EventId event) override;
  bool is_done(EventId event) override;
  bool is_done_with(const void* memory, std::size_t bytes, EventId event) override;
  void synchronize(EventId event) override;
  base::Nanoseconds elapsed(EventId from, EventId to) override;

  void copy(StreamRef stream, void* to, const void* from, std::size_t bytes, base::Location site) override;
  void fill(StreamRef stream, void* memory, int byte, std::size_t bytes, base::Location site) override;
  void launch(StreamRef stream, Kernel kernel, base::Location site) override;
  void call_host(StreamRef stream, std::function<void()> body) override;
  void busy(StreamRef stream, std::uint64_t cycles) override;

  IpcHandle export_memory(const void* memory, std::size_t* offset) override;
  void* import_memory(int device, const IpcHandle& handle) override;
  void close_imported(int device, void* memory) override;
  IpcHandle export_event(EventId event) override;
  EventId import_event(int device, const IpcHandle& handle) override;

  int device_of(const void* memory) const noexcept override { return space_.device_of(memory); }
  std::size_t describe(const void* address, char* text, std::size_t size) const noexcept override {
    return space_.describe(address, text, size);
  }

 private:
  // Requested work, and the bytes that it touches.
  struct Request {
    StreamRef stream;
    const char* name = "";
    core::CallSite site;
    std::vector<std::pair<Lattice, Access>> touched;
  };

  void check_device(int device) const;
  // Sites are only reported by the check, so the stack is taken only for it.
  core::CallSite asked_at(base::Location given) const {
    return settings_.check_order ? core::call_site(given) : core::CallSite{given};
  }
  std::size_t number_of(StreamRef stream) const;
  void open_stream(StreamRef stream, Priority priority);
  void put(const Request& request, Work work);
  std::vector<OrderReport> check_order_of(const Request& request, std::size_t number);  // with mutex_ held
  VectorClock known_of(StreamRef stream);
  // Returns the clock of all work put on its streams, destroyed ones included. Requires the lock.
  VectorClock known_of_device(int device);
  // Includes recordings by other processes.
  Recorded last_recording(EventId event);
  void host_saw(const VectorClock& known);
  // Returns where a kernel accesses the region, and adds the region to the request.
  Region place(const Region& region, Request& request) const;

  const VirtualSettings settings_;
  AddressSpace space_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<StreamRef, std::size_t> numbers_;
  std::map<int, VectorClock> closed_;  // clocks of destroyed streams by device
  Events events_;
  OrderCheck check_;
  Exchange exchange_{space_, check_};
  std::uint64_t next_stream_ = 1;

  Scheduler scheduler_;  // the last member: its threads end first
};

}  // namespace distrun::device::virtual_gpu
