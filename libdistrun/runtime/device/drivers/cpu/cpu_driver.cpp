#include <distrun/runtime/device/drivers/cpu/cpu_driver.hpp>

#include <sys/sysinfo.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>

namespace distrun::device {
namespace {

constexpr std::size_t kBlockAlignment = 256;
constexpr std::uint64_t kClockHz = 1'000'000'000;  // for busy()

[[noreturn]] void no_ipc() {
  throw Error(ErrorKind::Unimplemented, "the cpu has no IPC handles; share host memory by other means");
}

class CpuDriver final : public Driver {
 public:
  std::string_view name() const noexcept override { return "cpu"; }
  int device_count() const noexcept override { return 1; }
  Properties properties(int device) const override;
  bool can_access_peer(int, int) const override { return false; }

  void* allocate(int device, std::size_t bytes) override;
  void free(int, void* memory) override { std::free(memory); }
  std::size_t free_bytes(int device) const override;
  void* allocate_pinned(std::size_t bytes) override { return allocate(0, bytes); }
  void free_pinned(void* memory) override { std::free(memory); }

  StreamId make_stream(int, Priority) override { return StreamId{next_stream_++}; }
  void destroy_stream(StreamRef) override {}
  bool is_idle(StreamRef) override { return true; }
  void synchronize(StreamRef) override {}
  void synchronize_device(int) override {}

  EventId make_event(int device, EventOptions options) override;
  void destroy_event(int device, EventId event) override;
  void record(StreamRef stream, EventId event) override;
  void wait(StreamRef, EventId) override {}
  bool is_done(EventId) override { return true; }
  void synchronize(EventId) override {}
  base::Nanoseconds elapsed(EventId from, EventId to) override;

  void copy(StreamRef, void* to, const void* from, std::size_t bytes, base::Location) override {
    if (bytes > 0) std::memmove(to, from, bytes);
  }
  void fill(StreamRef, void* memory, int byte, std::size_t bytes, base::Location) override {
    if (bytes > 0) std::memset(memory, byte, bytes);
  }
  void launch(StreamRef, Kernel kernel, base::Location) override { kernel.body(kernel.regions); }
  void call_host(StreamRef, std::function<void()> body) override { body(); }
  void busy(StreamRef stream, std::uint64_t cycles) override;

  IpcHandle export_memory(const void*, std::size_t*) override { no_ipc(); }
  void* import_memory(int, const IpcHandle&) override { no_ipc(); }
  void close_imported(int, void*) override { no_ipc(); }
  IpcHandle export_event(EventId) override { no_ipc(); }
  EventId import_event(int, const IpcHandle&) override { no_ipc(); }

  int device_of(const void*) const noexcept override { return -1; }

 private:
  struct Timed {
    bool timing = false;
    std::optional<base::TimePoint> recorded;
  };

  Timed& find(EventId event);

  std::atomic<std::uint64_t> next_stream_{1};
  std::mutex recording_;
  std::map<EventId, Timed> events_;  // guarded by recording_
  std::uint64_t next_event_ = 1;     // guarded by recording_
};

Properties CpuDriver::properties(int) const {
  Properties properties;
  properties.name = "cpu";
  properties.uuid = "cpu";
  properties.memory_bytes =
      static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  properties.multiprocessors = ::get_nprocs();
  properties.clock_hz = kClockHz;
  return properties;
}

void* CpuDriver::allocate(int, std::size_t bytes) {
  const std::size_t rounded =
      (std::max<std::size_t>(bytes, 1) + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  void* memory = rounded >= bytes ? std::aligned_alloc(kBlockAlignment, rounded) : nullptr;
  if (memory == nullptr) {
    throw Error(ErrorKind::Overloaded, "OutOfMemoryError",
                "the host cannot allocate " + std::to_string(bytes) + " bytes of memory in one piece");
  }
  return memory;
}

std::size_t CpuDriver::free_bytes(int) const {
  return static_cast<std::size_t>(::sysconf(_SC_AVPHYS_PAGES)) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

EventId CpuDriver::make_event(int, EventOptions options) {
  if (options.interprocess) no_ipc();
  const std::lock_guard lock(recording_);
  const EventId event{next_event_++};
  events_[event].timing = options.timing;
  return event;
}

void CpuDriver::destroy_event(int, EventId event) {
  const std::lock_guard lock(recording_);
  events_.erase(event);
}

void CpuDriver::record(StreamRef, EventId event) {
  const std::lock_guard lock(recording_);
  find(event).recorded = base::system_clock().now();
}

CpuDriver::Timed& CpuDriver::find(EventId event) {
  const auto found = events_.find(event);
  if (found == events_.end()) throw Error(ErrorKind::InvalidArgument, "the event does not exist or was destroyed");
  return found->second;
}

base::Nanoseconds CpuDriver::elapsed(EventId from, EventId to) {
  const std::lock_guard lock(recording_);
  const Timed& first = find(from);
  const Timed& last = find(to);
  if (!first.timing || !last.timing) {
    throw Error(ErrorKind::InvalidArgument, "both events must be created with timing to measure the time between them");
  }
  if (!first.recorded || !last.recorded) {
    throw Error(ErrorKind::InvalidArgument, "both events must be recorded to measure the time between them");
  }
  return *last.recorded - *first.recorded;
}

void CpuDriver::busy(StreamRef, std::uint64_t cycles) {
  const base::TimePoint end = base::deadline_after(base::Nanoseconds(cycles));  // at kClockHz
  while (base::system_clock().now() < end) {
  }
}

}  // namespace

std::unique_ptr<Driver> make_cpu_driver() { return std::make_unique<CpuDriver>(); }

// Never destroyed: threads and statics may use it until the process ends.
Driver& cpu_driver() {
  static auto* const driver = new CpuDriver;
  return *driver;
}

}  // namespace distrun::device
