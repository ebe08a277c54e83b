#include <distrun/runtime/rpc/devices/local_reads.hpp>

namespace distrun::rpc {

void LocalReads::note(WorkerKey reader, device::Stream stream) {
  was_used_.store(true, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  device::EventPool& events = events_.try_emplace(stream.device(), stream.driver()).first->second;
  reads_[reader].push_back({stream.device(), events.record(stream.ref())});
}

bool LocalReads::has(WorkerKey reader) const {
  if (!was_used_.load(std::memory_order_relaxed)) return false;
  const std::lock_guard lock(mutex_);
  const auto found = reads_.find(reader);
  return found != reads_.end() && !found->second.empty();
}

// Waits for completed reads as well, since completion by chance must not affect the order. Then forgets them.
void LocalReads::follow(WorkerKey reader, const std::vector<device::Device>& devices) {
  static std::byte nothing{};
  const std::lock_guard lock(mutex_);
  std::vector<Read>& reads = reads_[reader];
  for (const device::Device device : devices) {
    const device::Stream stream = device::current_stream(device);
    for (const Read& read : reads) stream.driver().wait(stream.ref(), read.event);
  }
  std::erase_if(reads, [&](const Read& read) {
    device::EventPool& events = events_.at(read.device);
    if (!events.driver().is_done_with(&nothing, 1, read.event)) return false;
    events.give(read.device.index, read.event);
    return true;
  });
}

}  // namespace distrun::rpc
