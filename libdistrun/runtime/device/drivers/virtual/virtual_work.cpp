// The virtual driver's calls that put work on streams or share objects with other processes.
#include <cstring>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/device/drivers/virtual/virtual_driver.hpp>

namespace distrun::device::virtual_gpu {
namespace {

std::size_t bytes_of(const Lattice& lattice) { return static_cast<std::size_t>(lattice.end - lattice.begin); }

const void* address_of(const Lattice& lattice) {
  return reinterpret_cast<const void*>(static_cast<std::intptr_t>(lattice.begin));
}

}  // namespace

Region VirtualDriver::place(const Region& region, Request& request) const {
  const std::optional<Lattice> lattice = lattice_of(region);
  if (!lattice) return region;
  const AddressPlace place = space_.place(address_of(*lattice), bytes_of(*lattice));
  Region placed = region;
  const auto* const lowest = static_cast<const std::byte*>(address_of(*lattice));
  const std::ptrdiff_t first = static_cast<const std::byte*>(region.begin) - lowest;
  placed.begin = static_cast<std::byte*>(place.own) + first;
  if (place.device >= 0 || place.pinned) request.touched.emplace_back(*lattice, region.access);
  return placed;
}

void VirtualDriver::put(const Request& request, Work work) {
  std::vector<OrderReport> found;
  {
    const std::lock_guard lock(mutex_);
    const std::size_t number = number_of(request.stream);  // refuses a destroyed stream
    if (settings_.check_order) found = check_order_of(request, number);
    work.name = request.name;
    scheduler_.push(request.stream, std::move(work));
  }
  for (const OrderReport& report : found) tell(report);
}

// Reports are taken under the lock by the thread that caused them: the observer attributes them to that thread's rank.
std::vector<OrderReport> VirtualDriver::check_order_of(const Request& request, std::size_t number) {
  for (const auto& [lattice, access] : request.touched) {
    const Block block = space_.block_of(address_of(lattice));
    const AccessRecord kept = check_.touch(number, request.name, request.site, access, lattice, block);
    exchange_.touch(kept, check_.clock_of(number), check_.name_of(number));
  }
  return check_.take_reports();
}

// As with CUDA: pageable source bytes are read at once; with a pageable target the call returns when they have arrived.
void VirtualDriver::copy(StreamRef stream, void* to, const void* from, std::size_t bytes, base::Location site) {
  if (bytes == 0) return;
  Request request{stream, "copy", asked_at(site), {}};
  const AddressPlace source = space_.place(from, bytes);
  const AddressPlace target = space_.place(to, bytes);
  const auto note = [&](const AddressPlace& place, const void* address, Access access) {
    if (place.device < 0 && !place.pinned) return;
    request.touched.emplace_back(*lattice_of(flat_region(address, bytes, access)), access);
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
  if (target.device >= 0 || target.pinned) return;
  const std::string name = "a copy on " + to_string(stream);
  board::WaitInfo info;
  info.kind = board::WaitKind::Stream;
  info.name = name;
  info.site = site;
  const core::Wait wait(info);
  synchronize(stream);
}

void VirtualDriver::fill(StreamRef stream, void* memory, int byte, std::size_t bytes, base::Location site) {
  if (bytes == 0) return;
  Request request{stream, "fill", asked_at(site), {}};
  const Region placed = place(flat_region(memory, bytes, Access::Write), request);
  Work work;
  work.body = [own = placed.begin, byte, bytes] { std::memset(own, byte, bytes); };
  put(request, std::move(work));
}

void VirtualDriver::launch(StreamRef stream, Kernel kernel, base::Location site) {
  Request request{stream, kernel.name, asked_at(site), {}};
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
    // Reported by its stream.
  }
  const std::lock_guard lock(mutex_);
  exchange_.close_imported(memory);
}

IpcHandle VirtualDriver::export_event(EventId event) {
  const std::lock_guard lock(mutex_);
  const Recorded& recorded = events_.find(event);
  if (recorded.shared == nullptr) {
    throw Error(ErrorKind::InvalidArgument, "only an event created for other processes can be exported");
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

}  // namespace distrun::device::virtual_gpu
