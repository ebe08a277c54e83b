#include <distrun/device/virtual/virtual_driver.hpp>

#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include <distrun/base/error.hpp>
#include <distrun/device/byte_text.hpp>
#include <distrun/device/call_site.hpp>
#include <distrun/device/stream.hpp>
#include <distrun/device/virtual/address_space.hpp>
#include <distrun/device/virtual/events.hpp>
#include <distrun/device/virtual/exchange.hpp>
#include <distrun/device/virtual/order_check.hpp>
#include <distrun/device/virtual/scheduler.hpp>

namespace distrun::device {
namespace virtual_gpu {
namespace {

constexpr std::uint64_t kClockHz = 1'000'000'000;
constexpr int kMultiprocessors = 1;

std::size_t bytes_of(const Lattice& lattice) { return static_cast<std::size_t>(lattice.end - lattice.begin); }

const void* address_of(const Lattice& lattice) {
  return reinterpret_cast<const void*>(static_cast<std::intptr_t>(lattice.begin));
}

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
  // Work that is asked for, and which bytes it touches.
  struct Request {
    StreamRef stream;
    const char* name = "";
    base::Location site;
    std::vector<std::pair<Lattice, Access>> touched;
  };

  void check_device(int device) const;
  std::size_t number_of(StreamRef stream) const;
  void open_stream(StreamRef stream, Priority priority);
  void put(const Request& request, Work work);
  void tell_found();
  VectorClock known_of(StreamRef stream);
  // With what another process has recorded.
  Recorded last_recording(EventId event);
  void host_saw(const VectorClock& known);
  // Where a kernel touches a region, of which it takes note.
  Region place(const Region& region, Request& request) const;

  const VirtualSettings settings_;
  AddressSpace space_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<StreamRef, std::size_t> numbers_;
  Events events_;
  OrderCheck check_;
  Exchange exchange_{space_, check_};
  std::uint64_t next_stream_ = 1;

  Scheduler scheduler_;  // the last: its threads end first
};

VirtualDriver::VirtualDriver(const VirtualSettings& settings)
    : settings_(settings), space_(settings.devices, settings.memory_bytes), scheduler_(settings.seed) {
  for (int device = 0; device < settings.devices; ++device) open_stream({device, StreamId{}}, Priority::Normal);
}

Properties VirtualDriver::properties(int device) const {
  check_device(device);
  Properties properties;
  properties.name = "virtual";
  properties.uuid = "virtual-" + std::to_string(device);
  properties.memory_bytes = settings_.memory_bytes;
  properties.multiprocessors = kMultiprocessors;
  properties.clock_hz = kClockHz;
  return properties;
}

void VirtualDriver::check_device(int device) const {
  if (device >= 0 && device < settings_.devices) return;
  throw Error(ErrorKind::InvalidArgument, to_string(cuda(device)) + " is not there: the virtual driver has " +
                                              std::to_string(settings_.devices) + " devices");
}

// ---- memory

void* VirtualDriver::allocate(int device, std::size_t bytes) {
  check_device(device);
  return space_.allocate(device, bytes);
}

void VirtualDriver::free(int device, void* memory) {
  check_device(device);
  const Place place = space_.place(memory, 0);
  try {
    scheduler_.synchronize_device(device);
  } catch (const base::Error&) {
    // Told by the stream that has it; the memory is free all the same.
  }
  const std::lock_guard lock(mutex_);
  if (settings_.check_order && place.device >= 0) {
    const Region all = flat_region(place.allocation.begin, place.allocation.bytes, Access::Write);
    for (const auto& [stream, number] : numbers_) {
      if (stream.device == device) check_.forget(*lattice_of(all), check_.clock_of(number));
    }
  }
  space_.free(device, memory);
  exchange_.forget(memory);
}

void VirtualDriver::block_taken(const void* memory, std::size_t bytes, base::Location site) {
  space_.name_block(memory, bytes, site);
}

// ---- streams

void VirtualDriver::open_stream(StreamRef stream, Priority priority) {
  numbers_[stream] = check_.add_stream(to_string(Stream(cuda(stream.device), stream.id)));
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
  numbers_.erase(stream);
}

std::size_t VirtualDriver::number_of(StreamRef stream) const {
  const auto found = numbers_.find(stream);
  if (found == numbers_.end()) {
    throw Error(ErrorKind::InvalidArgument,
                to_string(Stream(cuda(stream.device), stream.id)) + " does not exist, or no more");
  }
  return found->second;
}

VectorClock VirtualDriver::known_of(StreamRef stream) {
  const std::lock_guard lock(mutex_);
  return settings_.check_order ? check_.clock_of(number_of(stream)) : VectorClock();
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
    for (const auto& [stream, number] : numbers_) {
      if (settings_.check_order && stream.device == device) known.join(check_.clock_of(number));
    }
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
  if (recorded.shared != nullptr) recorded.point = exchange_.last_recording(recorded.shared, recorded.clock);
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
  Work work;
  work.kind = Work::Kind::Record;
  work.point = std::make_shared<Point>();
  if (settings_.check_order) recorded.clock = check_.clock_of(number_of(stream));
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
    throw Error(ErrorKind::InvalidArgument, "both events must be done to tell the time between them: synchronize first");
  }
  return *last - *first;
}

// ---- work

Region VirtualDriver::place(const Region& region, Request& request) const {
  const std::optional<Lattice> lattice = lattice_of(region);
  if (!lattice) return region;
  const Place place = space_.place(address_of(*lattice), bytes_of(*lattice));
  Region placed = region;
  const std::ptrdiff_t first = static_cast<const std::byte*>(region.begin) - static_cast<const std::byte*>(address_of(*lattice));
  placed.begin = static_cast<std::byte*>(place.own) + first;
  if (place.device >= 0 || place.pinned) request.touched.emplace_back(*lattice, region.access);
  return placed;
}

void VirtualDriver::put(const Request& request, Work work) {
  {
    const std::lock_guard lock(mutex_);
    const std::size_t number = number_of(request.stream);
    if (settings_.check_order) {
      for (const auto& [lattice, access] : request.touched) {
        const Block block = space_.block_of(address_of(lattice));
        const AccessRecord kept = check_.touch(number, request.name, request.site, access, lattice, block);
        exchange_.touch(kept, check_.clock_of(number), check_.name_of(number));
      }
    }
    scheduler_.push(request.stream, std::move(work));
  }
  if (settings_.check_order) tell_found();
}

void VirtualDriver::tell_found() {
  std::vector<OrderReport> found;
  {
    const std::lock_guard lock(mutex_);
    found = check_.take_reports();
  }
  for (const OrderReport& report : found) tell(report);
}

// As with CUDA: from pageable memory the bytes are taken at once, to it the call returns when they are there.
void VirtualDriver::copy(StreamRef stream, void* to, const void* from, std::size_t bytes, base::Location site) {
  if (bytes == 0) return;
  Request request{stream, "copy", call_site(site), {}};
  const Place source = space_.place(from, bytes);
  const Place target = space_.place(to, bytes);
  const auto note = [&](const Place& place, const void* address, Access access) {
    if (place.device >= 0 || place.pinned) request.touched.emplace_back(*lattice_of(flat_region(address, bytes, access)), access);
  };
  note(source, from, Access::Read);
  note(target, to, Access::Write);
  Work work;
  if (source.device < 0 && !source.pinned) {
    const auto* begin = static_cast<const std::byte*>(from);
    work.body = [own = target.own, staged = std::vector<std::byte>(begin, begin + bytes)] {
      std::memcpy(own, staged.data(), staged.size());
    };
  } else {
    work.body = [own = target.own, begin = source.own, bytes] { std::memmove(own, begin, bytes); };
  }
  put(request, std::move(work));
  if (target.device < 0 && !target.pinned) synchronize(stream);
}

void VirtualDriver::fill(StreamRef stream, void* memory, int byte, std::size_t bytes, base::Location site) {
  if (bytes == 0) return;
  Request request{stream, "fill", call_site(site), {}};
  const Region placed = place(flat_region(memory, bytes, Access::Write), request);
  Work work;
  work.body = [own = placed.begin, byte, bytes] { std::memset(own, byte, bytes); };
  put(request, std::move(work));
}

void VirtualDriver::launch(StreamRef stream, Kernel kernel, base::Location site) {
  Request request{stream, kernel.name, call_site(site), {}};
  for (Region& region : kernel.regions) region = place(region, request);
  Work work;
  work.body = [kernel = std::move(kernel)] { kernel.body(kernel.regions); };
  put(request, std::move(work));
}

void VirtualDriver::call_host(StreamRef stream, std::function<void()> body) {
  Work work;
  work.kind = Work::Kind::Host;
  work.body = std::move(body);
  put({stream, "host callback", {}, {}}, std::move(work));
}

void VirtualDriver::busy(StreamRef stream, std::uint64_t cycles) {
  Work work;
  work.kind = Work::Kind::Busy;
  work.length = base::Nanoseconds(cycles * (1'000'000'000 / kClockHz));
  put({stream, "busy", {}, {}}, std::move(work));
}

// ---- other processes

IpcHandle VirtualDriver::export_memory(const void* memory, std::size_t* offset) {
  const std::lock_guard lock(mutex_);
  return exchange_.export_memory(memory, offset);
}

void* VirtualDriver::import_memory(int device, const IpcHandle& handle) {
  check_device(device);
  const std::lock_guard lock(mutex_);
  return exchange_.import_memory(device, handle);
}

void VirtualDriver::close_imported(int device, void* memory) {
  check_device(device);
  try {
    scheduler_.synchronize_device(device);
  } catch (const base::Error&) {
    // Told by the stream that has it.
  }
  const std::lock_guard lock(mutex_);
  exchange_.close_imported(memory);
}

IpcHandle VirtualDriver::export_event(EventId event) {
  const std::lock_guard lock(mutex_);
  const Recorded& recorded = events_.find(event);
  if (recorded.shared == nullptr) {
    throw Error(ErrorKind::InvalidArgument, "only an event that is made for other processes can be exported");
  }
  return exchange_.export_event(recorded.shared);
}

EventId VirtualDriver::import_event(int device, const IpcHandle& handle) {
  check_device(device);
  const std::lock_guard lock(mutex_);
  const EventId event = events_.make(device, {.interprocess = true});
  events_.find(event).shared = exchange_.import_event(handle);
  return event;
}

}  // namespace
}  // namespace virtual_gpu

std::unique_ptr<Driver> make_virtual_driver(const VirtualSettings& settings) {
  return std::make_unique<virtual_gpu::VirtualDriver>(settings);
}

}  // namespace distrun::device
