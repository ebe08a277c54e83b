#include <distrun/runtime/rpc/devices/imports.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/wait.hpp>

namespace distrun::rpc {
namespace {

constexpr base::Nanoseconds kMoment = std::chrono::seconds(1);

device::Device own_device(const DeviceSite& own, const DeviceSite& peer, std::int16_t index) {
  if (const auto number = own_number_of(own, peer, index)) return device::cuda(*number);
  throw Error(ErrorKind::InvalidArgument, "a message has memory of a device that this worker does not see: number " +
                                              std::to_string(index) + " of its sender");
}

device::Device receiving_device(const SentSpan& span) {
  const device::Device target = received(span.target);
  if (!target.is_cpu()) return target;
  throw Error(ErrorKind::InvalidArgument, "a message has memory of a device for the CPU");
}

// Errors are reported by the streams themselves.
void wait_for(const std::vector<device::Stream>& streams) noexcept {
  for (const device::Stream stream : streams) {
    try {
      stream.synchronize();
    } catch (const std::exception&) {
      continue;
    }
  }
}

}  // namespace

bool DeviceImports::are_copies_done() const {
  const auto is_done = [](const Reading& reading) {
    return std::all_of(reading.copied.begin(), reading.copied.end(),
                       [](const SharedEvent& each) { return each.event.is_done(); });
  };
  return std::all_of(orphans_.begin(), orphans_.end(), is_done) &&
         std::all_of(reading_.begin(), reading_.end(), [&](const auto& each) { return is_done(each.second); });
}

DeviceImports::~DeviceImports() {
  const board::WaitInfo info{
      board::WaitKind::RpcReply, "copies of others' device memory", board::PeerRule::None, {}, 0, {}};
  const core::WaitEnd end = core::poll_for_peers(info, base::system_clock().now() + kMoment,
                                                 std::chrono::milliseconds(1), [&] { return are_copies_done(); });
  if (end != core::WaitEnd::Ready) return;
  for (auto& [handle, opened] : opened_) {
    try {
      device::driver_of(opened.device).close_imported(opened.device.index, opened.memory);
    } catch (const Error&) {
      continue;  // its owner has exited, and the memory with it
    }
  }
}

std::vector<tensor::Ref<tensor::Storage>> DeviceImports::read(WorkerKey from, const SentDevices& section,
                                                              const DeviceSite& own, const DeviceSite& peer) {
  std::vector<device::Stream> streams;
  for (const SentSpan& each : section.spans) {
    const device::Stream stream = device::current_stream(receiving_device(each));
    if (std::find(streams.begin(), streams.end(), stream) == streams.end()) streams.push_back(stream);
  }
  follow(section.made, own, peer, streams);
  Reading reading;
  std::vector<tensor::Ref<tensor::Storage>> copies;
  try {
    for (const SentSpan& each : section.spans) {
      const device::Stream stream = device::current_stream(receiving_device(each));
      const auto* const memory =
          static_cast<const std::byte*>(open(own_device(own, peer, each.device), each.handle, reading));
      copies.push_back(tensor::Storage::make(stream.device(), each.bytes));
      if (each.bytes == 0) continue;
      stream.driver().copy(stream.ref(), copies.back()->data(), memory + each.offset, each.bytes);
    }
  } catch (...) {
    wait_for(streams);  // copies that were started are still reading
    let_go(std::move(reading));
    throw;
  }
  reading.streams = std::move(streams);
  end({from, section.transfer}, std::move(reading));
  return copies;
}

// Rejects a message that arrives twice.
void DeviceImports::refuse_second(WorkerKey from, std::uint64_t transfer) const {
  const Key key{from, transfer};
  const std::lock_guard lock(mutex_);
  if (!reading_.contains(key) && std::find(over_.begin(), over_.end(), key) == over_.end()) return;
  throw Error(ErrorKind::InvalidArgument, "a message has memory of a device that was read already");
}

// The sender's events may belong to any device, so all copying streams wait for all of them.
void DeviceImports::follow(const std::vector<SentEvent>& events, const DeviceSite& own, const DeviceSite& peer,
                           const std::vector<device::Stream>& streams) {
  for (const SentEvent& each : events) {
    std::shared_ptr<device::Event> event;
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = events_.find(each.handle); known != events_.end()) event = known->second;
    }
    if (event == nullptr) {
      event = std::make_shared<device::Event>(
          device::Event::import_handle(own_device(own, peer, each.device), {each.handle}));
      const std::lock_guard lock(mutex_);
      if (events_.size() >= kEventsMost) events_.clear();
      events_.emplace(each.handle, event);
    }
    for (const device::Stream stream : streams) event->block(stream);
  }
}

void* DeviceImports::open(device::Device device, const Bytes& handle, Reading& reading) {
  const std::lock_guard lock(mutex_);
  auto found = opened_.find(handle);
  if (found == opened_.end()) {
    if (opened_.size() >= kOpenedMost) close_unused();
    void* const memory = device::driver_of(device).import_memory(device.index, {handle});
    found = opened_.emplace(handle, Opened{device, memory}).first;
  }
  found->second.last_use = ++uses_;
  ++found->second.users;
  reading.handles.push_back(handle);
  return found->second.memory;
}

// Closes the least recently used one. Requires mutex_.
void DeviceImports::close_unused() {
  auto oldest = opened_.end();
  for (auto each = opened_.begin(); each != opened_.end(); ++each) {
    if (each->second.users != 0) continue;
    if (oldest == opened_.end() || each->second.last_use < oldest->second.last_use) oldest = each;
  }
  if (oldest == opened_.end()) return;  // all are in use, so the number is exceeded for a while
  device::driver_of(oldest->second.device).close_imported(oldest->second.device.index, oldest->second.memory);
  opened_.erase(oldest);
}

// Without events, waits: the owner must not reuse the memory before it is read.
void DeviceImports::end(Key key, Reading reading) {
  const std::vector<device::Stream> streams = reading.streams;
  try {
    for (const device::Stream stream : streams) {
      SharedEvent copied = shared_events_->take(stream.device());
      copied.event.record(stream);
      reading.copied.push_back(std::move(copied));
    }
  } catch (const Error&) {
    wait_for(streams);
    let_go(std::move(reading));
    return done_(key.first, key.second);
  }
  was_used_.store(true, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    reading_.emplace(key, std::move(reading));
  }
  // Callbacks take no lock that a call of a driver may be made under, and own nothing that uses a driver.
  const auto open_streams = std::make_shared<std::atomic<std::size_t>>(streams.size());
  for (const device::Stream stream : streams) {
    stream.driver().call_host(stream.ref(), [open_streams, done = done_, key] {
      if (--*open_streams == 0) done(key.first, key.second);
    });
  }
}

void DeviceImports::settle(WorkerKey from, std::uint64_t transfer) {
  Reading reading;
  {
    const std::lock_guard lock(mutex_);
    const auto found = reading_.find({from, transfer});
    if (found == reading_.end()) return;
    reading = std::move(found->second);
    reading_.erase(found);
    over_.push_back({from, transfer});
    if (over_.size() > kOverMost) over_.pop_front();
  }
  for (const SharedEvent& each : reading.copied) static_cast<void>(each.event.is_done());
  let_go(std::move(reading));
}

std::vector<SentRead> DeviceImports::reads_of(WorkerKey from) const {
  std::vector<SentRead> reads;
  if (!was_used_.load(std::memory_order_relaxed)) return reads;
  const std::lock_guard lock(mutex_);
  for (auto each = reading_.lower_bound({from, 0}); each != reading_.end() && each->first.first == from; ++each) {
    const Reading& reading = each->second;
    for (std::size_t i = 0; i < reading.copied.size(); ++i) {
      reads.push_back({each->first.second, {reading.streams[i].device().index, reading.copied[i].handle.bytes}});
    }
  }
  return reads;
}

void DeviceImports::follow_reads(const std::vector<SentEvent>& reads, const DeviceSite& own, const DeviceSite& peer,
                                 const std::vector<device::Device>& devices) {
  std::vector<device::Stream> streams;
  for (const device::Device each : devices) streams.push_back(device::current_stream(each));
  follow(reads, own, peer, streams);
}

void DeviceImports::let_go(Reading reading) {
  for (std::size_t i = 0; i < reading.copied.size(); ++i) {
    shared_events_->give(reading.streams[i].device(), std::move(reading.copied[i]));
  }
  const std::lock_guard lock(mutex_);
  for (const Bytes& handle : reading.handles) {
    if (const auto found = opened_.find(handle); found != opened_.end()) --found->second.users;
  }
}

std::vector<device::Stream> DeviceImports::lose(WorkerKey from) {
  std::vector<Reading> lost;
  {
    const std::lock_guard lock(mutex_);
    for (auto each = reading_.begin(); each != reading_.end();) {
      if (each->first.first != from) {
        ++each;
        continue;
      }
      lost.push_back(std::move(each->second));
      each = reading_.erase(each);
    }
  }
  std::vector<device::Stream> streams;
  for (const Reading& each : lost) streams.insert(streams.end(), each.streams.begin(), each.streams.end());
  const std::lock_guard lock(mutex_);
  std::move(lost.begin(), lost.end(), std::back_inserter(orphans_));
  return streams;
}

std::size_t DeviceImports::count() const {
  const std::lock_guard lock(mutex_);
  return reading_.size();
}

}  // namespace distrun::rpc
