#include <distrun/runtime/device/drivers/cuda/records.hpp>

#include <iterator>

namespace distrun::device {

void CudaRecords::add(const Allocation& allocation) {
  const std::lock_guard lock(mutex_);
  allocations_[allocation.begin] = allocation;
}

void CudaRecords::remove_memory(int device, void* begin) {
  const std::lock_guard lock(mutex_);
  if (allocations_.erase(static_cast<std::byte*>(begin)) == 0) {
    throw Error(ErrorKind::InvalidArgument, "no memory of " + to_string(cuda(device)) + " begins at this address");
  }
}

std::optional<CudaRecords::Allocation> CudaRecords::find_memory(const void* address) const {
  const std::lock_guard lock(mutex_);
  const auto* const byte = static_cast<const std::byte*>(address);
  const auto behind = allocations_.upper_bound(byte);
  if (behind == allocations_.begin()) return std::nullopt;
  const Allocation& before = std::prev(behind)->second;
  return byte < before.begin + before.bytes ? std::optional(before) : std::nullopt;
}

void CudaRecords::add(EventId event, const Made& made) {
  const std::lock_guard lock(mutex_);
  events_[event] = made;
}

void CudaRecords::remove(EventId event) {
  const std::lock_guard lock(mutex_);
  events_.erase(event);
}

void CudaRecords::set_recorded(EventId event) {
  const std::lock_guard lock(mutex_);
  if (const auto found = events_.find(event); found != events_.end()) found->second.recorded = true;
}

CudaRecords::Made CudaRecords::find(EventId event) const {
  const std::lock_guard lock(mutex_);
  const auto found = events_.find(event);
  if (found == events_.end()) throw Error(ErrorKind::InvalidArgument, "the event does not exist or was destroyed");
  return found->second;
}

void CudaRecords::keep(StreamRef stream, const base::Error& error) {
  const std::lock_guard lock(mutex_);
  errors_.emplace(stream, error);
}

void CudaRecords::forget_error(StreamRef stream) {
  const std::lock_guard lock(mutex_);
  errors_.erase(stream);
}

bool CudaRecords::has_error(StreamRef stream) const {
  const std::lock_guard lock(mutex_);
  return errors_.contains(stream);
}

void CudaRecords::throw_error(StreamRef stream) const {
  const std::lock_guard lock(mutex_);
  if (const auto error = errors_.find(stream); error != errors_.end()) throw base::Error(error->second);
}

void CudaRecords::throw_error_of(int device) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [stream, error] : errors_) {
    if (stream.device == device) throw base::Error(error);
  }
}

void CudaRecords::count_launch(const char* kernel, bool own) {
  const std::lock_guard lock(mutex_);
  ++(own ? launches_.own : launches_.staged[kernel]);
}

LaunchStatistics CudaRecords::launches() const {
  const std::lock_guard lock(mutex_);
  return launches_;
}

}  // namespace distrun::device
