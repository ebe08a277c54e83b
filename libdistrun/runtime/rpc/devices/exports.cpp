#include <distrun/runtime/rpc/devices/exports.hpp>

#include <utility>

#include <distrun/common/base/clock.hpp>
#include <distrun/runtime/core/shared_memory.hpp>
#include <distrun/runtime/core/wait.hpp>

namespace distrun::rpc {
namespace {

constexpr base::Nanoseconds kEndingMoment = std::chrono::milliseconds(50);

}  // namespace

void DeviceExports::keep(WorkerKey to, std::vector<Span> spans, SentDevices& section) {
  for (Transfer& each : take_orphans()) give_back(std::move(each));
  Transfer transfer{to, std::move(spans), {}};
  for (std::size_t i = 0; i < transfer.spans.size(); ++i) {
    const Span& span = transfer.spans[i];
    const device::Device device = span.storage->device();
    std::size_t offset = 0;
    section.spans[i].handle = device::driver_of(device).export_memory(span.data(), &offset).bytes;
    section.spans[i].offset = offset;
    if (!transfer.made.contains(device)) transfer.made.emplace(device, events_->take(device));
  }
  for (auto& [device, shared] : transfer.made) {
    shared.event.record(device::current_stream(device));
    section.made.push_back({device.index, shared.handle.bytes});
  }
  const std::lock_guard lock(mutex_);
  section.transfer = ++last_;
  transfers_.emplace(section.transfer, std::move(transfer));
}

void DeviceExports::give_back(Transfer transfer) {
  for (auto& [device, shared] : transfer.made) events_->give(device, std::move(shared));
}

void DeviceExports::release(WorkerKey to, std::uint64_t number) {
  Transfer transfer;  // destroyed after the lock is released
  {
    const std::lock_guard lock(mutex_);
    const auto found = transfers_.find(number);
    if (found == transfers_.end() || found->second.to != to) return;
    transfer = std::move(found->second);
    transfers_.erase(found);
  }
  std::vector<Span> spans = std::move(transfer.spans);
  give_back(std::move(transfer));
}

void DeviceExports::lose(WorkerKey to, int pid) {
  const std::lock_guard lock(mutex_);
  for (auto each = transfers_.begin(); each != transfers_.end();) {
    if (each->second.to != to) {
      ++each;
      continue;
    }
    orphans_.emplace_back(pid, std::move(each->second));
    each = transfers_.erase(each);
  }
}

// Takes those whose processes have ended.
std::vector<DeviceExports::Transfer> DeviceExports::take_orphans() {
  std::vector<Transfer> over;
  const std::lock_guard lock(mutex_);
  std::erase_if(orphans_, [&](auto& each) {
    if (core::is_alive(each.first)) return false;
    over.push_back(std::move(each.second));
    return true;
  });
  return over;
}

DeviceExports::~DeviceExports() {
  const board::WaitInfo info{
      board::WaitKind::RpcReply, "processes to end that read device memory", board::PeerRule::None, {}, 0, {}};
  core::poll_for_peers(info, base::system_clock().now() + kEndingMoment, std::chrono::milliseconds(1), [&] {
    take_orphans();
    return orphans_.empty();
  });
}

bool DeviceExports::is_open(WorkerKey to, std::uint64_t transfer) const {
  const std::lock_guard lock(mutex_);
  const auto found = transfers_.find(transfer);
  return found != transfers_.end() && found->second.to == to;
}

std::size_t DeviceExports::count() const {
  const std::lock_guard lock(mutex_);
  return transfers_.size();
}

}  // namespace distrun::rpc
