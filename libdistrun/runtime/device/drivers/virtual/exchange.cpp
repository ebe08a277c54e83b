#include <distrun/runtime/device/drivers/virtual/exchange.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/sealed_memory.hpp>
#include <distrun/runtime/symbols/caller.hpp>

namespace distrun::device::virtual_gpu {
namespace {

enum class HandleKind : std::uint32_t { Memory = 0x6d656d31, Event = 0x65767431 };

// The contents of a handle.
struct Handle {
  HandleKind kind{};
  std::int32_t memory_fd = -1;
  Peer area{};
  std::uint64_t memory_inode = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::int64_t device = 0;
  std::uint64_t event = 0;
};

IpcHandle pack(const Handle& handle) {
  IpcHandle packed;
  packed.bytes.resize(sizeof handle);
  std::memcpy(packed.bytes.data(), &handle, sizeof handle);
  return packed;
}

Handle unpack(const IpcHandle& packed, HandleKind kind) {
  Handle handle;
  if (packed.bytes.size() != sizeof handle) {
    throw Error(ErrorKind::InvalidArgument,
                "not a handle of the virtual driver: it has " + std::to_string(packed.bytes.size()) + " bytes");
  }
  std::memcpy(&handle, packed.bytes.data(), sizeof handle);
  if (handle.kind != kind) {
    throw Error(ErrorKind::InvalidArgument,
                kind == HandleKind::Memory ? "not a handle of memory" : "not a handle of an event");
  }
  if (handle.area.area.pid == ::getpid()) {
    throw Error(ErrorKind::InvalidArgument, "the handle was created by this process, which does not need it");
  }
  return handle;
}

// Checks the range of a handle, which comes from another process.
void check_place(const Handle& handle, std::optional<std::size_t> size) {
  const bool is_inside = size && handle.bytes != 0 && handle.offset <= *size && handle.bytes <= *size - handle.offset;
  if (is_inside) return;
  throw Error(ErrorKind::InvalidArgument,
              "the handle is damaged: it names " + std::to_string(handle.bytes) + " bytes from byte " +
                  std::to_string(handle.offset) + ", but " +
                  (size ? "the memory has " + std::to_string(*size) : std::string("the memory has no sealed size")));
}

template <std::size_t Size>
void keep(char (&field)[Size], const std::string& text) {
  // The end of a path is more informative than its beginning.
  const std::size_t from = text.size() < Size ? 0 : text.size() - (Size - 1);
  std::memcpy(field, text.data() + from, text.size() - from);
  field[text.size() - from] = '\0';
}

template <std::size_t Size>
std::string text_of(const char (&field)[Size]) {
  return {field, ::strnlen(field, Size)};
}

void raise(std::atomic<std::uint64_t>& value, std::uint64_t to) {
  std::uint64_t now = value.load();
  while (now < to && !value.compare_exchange_weak(now, to)) {
  }
}

Lattice lattice_of(const SharedAccess& access) {
  Lattice lattice{access.begin, access.end, access.run, {}};
  for (std::size_t i = 0; i < std::min<std::uint64_t>(access.step_count, kSharedSteps); ++i) {
    lattice.steps.push_back({access.steps[i].stride, access.steps[i].count});
  }
  return lattice;
}

bool is_sane(const SharedAccess& access) {
  if (access.begin < 0 || access.end <= access.begin || access.run <= 0) return false;
  const auto used = std::min<std::uint64_t>(access.step_count, kSharedSteps);
  const auto end = access.steps.begin() + static_cast<std::ptrdiff_t>(used);
  return std::all_of(access.steps.begin(), end, [](const SharedAccess::Step& step) {
    return step.stride > 0 && step.count > 0 && step.count < (std::int64_t{1} << 40);
  });
}

}  // namespace

MappedArea& Exchange::own() {
  if (own_ != nullptr) return *own_;
  own_ = std::make_shared<MappedArea>();
  for (std::size_t i = kSharedEvents; i-- > 0;) free_events_.push_back(i);
  return *own_;
}

std::shared_ptr<MappedArea> Exchange::area_of(const Peer& peer) {
  if (own_ != nullptr && (*own_)->token == peer.token) return own_;
  std::shared_ptr<MappedArea>& area = areas_[peer.token];
  if (area == nullptr) area = std::make_shared<MappedArea>(peer);
  return area;
}

// ---- memory

IpcHandle Exchange::export_memory(const void* memory, std::size_t* offset) {
  const AddressPlace place = space_.place(memory, 0);
  const bool is_own = place.device >= 0 && space_.device(place.device).views().holds(memory);
  if (!is_own) throw Error(ErrorKind::InvalidArgument, "only device memory of this process can be exported");
  const DeviceMemory& device = space_.device(place.device);
  const Extent all = place.allocation;
  *offset = static_cast<std::size_t>(static_cast<const std::byte*>(memory) - all.begin);
  Handle handle;
  handle.kind = HandleKind::Memory;
  handle.area = own().address();
  handle.memory_fd = device.memfd();
  handle.memory_inode = core::address_of(device.memfd()).inode;
  handle.offset = static_cast<std::uint64_t>(all.begin - device.views().view());
  handle.bytes = all.bytes;
  handle.device = place.device;
  const auto begin = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(all.begin));
  ranges_[begin] = {begin + static_cast<std::int64_t>(all.bytes), handle.area.token, handle.device,
                    static_cast<std::int64_t>(handle.offset) - begin};
  return pack(handle);
}

void* Exchange::import_memory(int device, const IpcHandle& packed) {
  const Handle handle = unpack(packed, HandleKind::Memory);
  const std::shared_ptr<MappedArea> owner = area_of(handle.area);
  const Peer self = own().address();
  const base::Fd memfd = core::open_descriptor_of({handle.memory_inode, handle.area.area.pid, handle.memory_fd});
  check_place(handle, base::sealed_size(memfd.get()));
  const std::uint64_t skew = handle.offset % static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  TwoViews views(memfd.get(), handle.offset - skew, handle.bytes + skew);
  auto* const memory = static_cast<std::byte*>(space_.add_imported(device, std::move(views))) + skew;
  const auto begin = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(memory));
  ranges_[begin] = {begin + static_cast<std::int64_t>(handle.bytes), handle.area.token, handle.device,
                    static_cast<std::int64_t>(handle.offset) - begin};
  const auto is_self = [&](const board::SeqCell<Peer>& cell) {
    const std::optional<Peer> peer = cell.read();
    return peer && peer->token == self.token;
  };
  auto& peers = (*owner)->peers;
  if (std::none_of(peers.begin(), peers.end(), is_self)) {
    // Beyond kPeers the owner does not see this process's accesses; nothing else depends on it.
    static_cast<void>(std::any_of(peers.begin(), peers.end(), [&](auto& cell) { return cell.claim(self); }));
  }
  return memory;
}

void Exchange::close_imported(void* memory) {
  space_.remove_imported(memory);
  forget(memory);
}

void Exchange::forget(const void* memory) {
  ranges_.erase(static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(memory)));
}

// ---- events

std::shared_ptr<SharedEvent> Exchange::make_event() {
  own();
  if (free_events_.empty()) {
    throw Error(ErrorKind::Overloaded,
                "a process has at most " + std::to_string(kSharedEvents) + " events for other processes at a time");
  }
  const std::size_t place = free_events_.back();
  free_events_.pop_back();
  return {own_, &(*own_)->events[place]};
}

bool Exchange::is_own(const SharedEvent* event) const noexcept {
  return own_ != nullptr && event >= (*own_)->events.data() && event < (*own_)->events.data() + kSharedEvents;
}

void Exchange::release(const std::shared_ptr<SharedEvent>& event) {
  if (is_own(event.get())) free_events_.push_back(static_cast<std::size_t>(event.get() - (*own_)->events.data()));
}

IpcHandle Exchange::export_event(const std::shared_ptr<SharedEvent>& event) {
  if (!is_own(event.get())) {
    throw Error(ErrorKind::InvalidArgument, "an imported event can be exported only by its owner");
  }
  Handle handle;
  handle.kind = HandleKind::Event;
  handle.area = own().address();
  handle.event = static_cast<std::uint64_t>(event.get() - (*own_)->events.data());
  return pack(handle);
}

std::shared_ptr<SharedEvent> Exchange::import_event(const IpcHandle& packed) {
  const Handle handle = unpack(packed, HandleKind::Event);
  if (handle.event >= kSharedEvents) {
    throw Error(ErrorKind::InvalidArgument, "the handle is damaged: the event does not exist");
  }
  const std::shared_ptr<MappedArea> owner = area_of(handle.area);
  return {owner, &(*owner)->events[handle.event]};
}

void Exchange::record(const std::shared_ptr<SharedEvent>& event, const VectorClock& clock, Point& point) {
  event->clock.try_write(shown(clock));
  event->recorder = ::getpid();
  const std::uint64_t recording = event->recorded.fetch_add(1) + 1;
  point.on_done = [event, recording] { raise(event->done, recording); };
}

bool Exchange::is_own_recording(const std::shared_ptr<SharedEvent>& event) const {
  return event->recorder.load() == ::getpid();
}

std::shared_ptr<Point> Exchange::last_recording(const std::shared_ptr<SharedEvent>& event, VectorClock& clock) {
  const std::uint64_t recording = event->recorded.load();
  if (recording == 0) return nullptr;
  const int recorder = event->recorder.load();
  if (const auto known = event->clock.read()) clock = understood(*known);
  auto point = std::make_shared<Point>();
  point->has_arrived = [event, recording, recorder, to = point.get()] {
    if (event->done.load() >= recording) return true;
    if (core::is_alive(recorder)) return false;
    to->error = base::Error(ErrorKind::Disconnected, "process " + std::to_string(recorder) +
                                                         ", which recorded the event, ended before its work was done");
    return true;
  };
  return point;
}

// ---- stream order

std::size_t Exchange::number_of(const ForeignStream& stream, int pid) {
  const auto [found, fresh] = numbers_.try_emplace(stream, 0);
  if (fresh) {
    found->second = check_.add_stream("a stream of process " + std::to_string(pid));
    foreign_[found->second] = stream;
  }
  return found->second;
}

SharedClock Exchange::shown(const VectorClock& clock) {
  SharedClock shown{};
  const std::uint64_t token = own()->token;
  for (std::size_t number = 0; number < clock.size() && shown.size < kClockEntries; ++number) {
    if (clock.of(number) <= check_.host_clock().of(number)) continue;
    const auto other = foreign_.find(number);
    const ForeignStream stream = other != foreign_.end() ? other->second : ForeignStream{token, number};
    shown.entries[shown.size++] = {stream.process, stream.stream, clock.of(number)};
  }
  return shown;
}

VectorClock Exchange::understood(const SharedClock& clock) {
  VectorClock understood;
  for (std::size_t i = 0; i < std::min<std::uint64_t>(clock.size, kClockEntries); ++i) {
    const SharedClock::Entry& entry = clock.entries[i];
    const bool is_own = own_ != nullptr && entry.process == (*own_)->token;
    if (entry.stream >= kSharedStreams) continue;
    understood.raise(is_own ? entry.stream : number_of({entry.process, entry.stream}, 0), entry.count);
  }
  return understood;
}

const Exchange::Range* Exchange::range_of(std::int64_t begin) const {
  auto range = ranges_.upper_bound(begin);
  if (range == ranges_.begin()) return nullptr;
  --range;
  return begin < range->second.end ? &range->second : nullptr;
}

void Exchange::touch(const AccessRecord& fresh, const VectorClock& now, const std::string& stream_name) {
  const Range* range = range_of(fresh.bytes.begin);
  if (range == nullptr || fresh.stream >= kSharedStreams || fresh.bytes.steps.size() > kSharedSteps) return;
  SharedAccess mine{};
  mine.owner = range->owner;
  mine.device = range->device;
  mine.begin = fresh.bytes.begin + range->to_offset;
  mine.end = fresh.bytes.end + range->to_offset;
  mine.run = fresh.bytes.run;
  mine.step_count = fresh.bytes.steps.size();
  for (std::size_t i = 0; i < fresh.bytes.steps.size(); ++i) {
    mine.steps[i] = {fresh.bytes.steps[i].stride, fresh.bytes.steps[i].count};
  }
  mine.stream = fresh.stream;
  mine.count = fresh.count;
  mine.writes = fresh.writes ? 1 : 0;
  const base::Location site = symbols::location_of(fresh.site);
  mine.line = site.line;
  keep(mine.stream_name, stream_name);
  keep(mine.name, fresh.name + (fresh.site.step != nullptr ? " in " + *fresh.site.step : ""));
  keep(mine.file, site.file);
  // Published before it reads the others: of two concurrent accesses at least one sees the other.
  MappedArea& area = own();
  area->accesses[area->access_count.fetch_add(1) % kSharedAccesses].try_write(mine);
  const std::shared_ptr<MappedArea> owner = range->owner == area->token ? own_ : areas_[range->owner];
  if (owner != own_) compare(fresh, mine, now, *owner);
  for (const board::SeqCell<Peer>& cell : (*owner)->peers) {
    const std::optional<Peer> peer = cell.read();
    if (!peer || peer->token == area->token || (!core::is_alive(peer->area.pid) && !areas_.contains(peer->token)))
      continue;
    try {
      compare(fresh, mine, now, *area_of(*peer));
    } catch (const base::Error&) {
      areas_.erase(peer->token);  // the process has ended, and its later accesses cannot be seen
    }
  }
}

void Exchange::compare(const AccessRecord& fresh, const SharedAccess& mine, const VectorClock& now,
                       const MappedArea& other) {
  const std::uint64_t token = other->token;
  const int pid = other->pid;
  const Lattice bytes = lattice_of(mine);
  for (const board::SeqCell<SharedAccess>& cell : other->accesses) {
    const std::optional<SharedAccess> theirs = cell.read();
    if (!theirs || theirs->owner != mine.owner || theirs->device != mine.device) continue;
    if (theirs->stream >= kSharedStreams) continue;
    if (theirs->writes == 0 && mine.writes == 0) continue;
    if (theirs->count <= other->host_known[theirs->stream]) continue;
    if (theirs->count <= now.of(number_of({token, theirs->stream}, pid))) continue;
    if (!is_sane(*theirs) || !overlap(bytes, lattice_of(*theirs))) continue;
    if (theirs->writes == 0 && !core::is_alive(pid)) continue;  // the reader has ended
    check_.report_foreign(fresh, text_of(theirs->name), text_of(theirs->file), static_cast<std::uint32_t>(theirs->line),
                          theirs->writes != 0, text_of(theirs->stream_name) + " of process " + std::to_string(pid));
  }
}

void Exchange::host_saw(const VectorClock& known) {
  if (own_ == nullptr) return;
  for (std::size_t number = 0; number < known.size(); ++number) {
    const auto other = foreign_.find(number);
    if (other == foreign_.end()) {
      if (number < kSharedStreams) raise((*own_)->host_known[number], known.of(number));
      continue;
    }
    const auto area = areas_.find(other->second.process);
    if (area != areas_.end() && area->second != nullptr) {
      raise((*area->second)->host_known[other->second.stream], known.of(number));
    }
  }
}

}  // namespace distrun::device::virtual_gpu
