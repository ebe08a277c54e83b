#pragma once
// Records of the CUDA driver: its memory and events, errors of host callbacks, and numbers of launches.
//
// No method calls CUDA, so the lock is never held during a call of CUDA. That matters: CUDA holds a lock of its own
// while a copy of pageable memory waits for a stream, that stream may be about to run a host callback, and callbacks
// take the lock of these records.
//
// Thread-safe.
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/device/driver.hpp>

namespace distrun::device {

class CudaRecords {
 public:
  struct Allocation {
    std::byte* begin = nullptr;
    int device = 0;
    std::size_t bytes = 0;
  };
  struct Made {
    int device = 0;
    EventOptions options;
    bool recorded = false;
  };

  void add(const Allocation& allocation);
  // Throws Error{InvalidArgument} if no allocation of the device begins at this address.
  void remove_memory(int device, void* begin);
  // Returns the allocation with this address.
  std::optional<Allocation> find_memory(const void* address) const;

  void add(EventId event, const Made& made);
  void remove(EventId event);
  void set_recorded(EventId event);
  // Throws Error{InvalidArgument} if the event does not exist.
  Made find(EventId event) const;

  // Keeps the first error of a stream's callbacks.
  void keep(StreamRef stream, const base::Error& error);
  void forget_error(StreamRef stream);
  bool has_error(StreamRef stream) const;
  // Throw the kept error of a stream, or of any stream of a device.
  void throw_error(StreamRef stream) const;
  void throw_error_of(int device) const;

  void count_launch(const char* kernel, bool own);
  LaunchStatistics launches() const;

 private:
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  LaunchStatistics launches_;
  std::map<EventId, Made> events_;
  std::map<const std::byte*, Allocation> allocations_;  // by their begin
  std::map<StreamRef, base::Error> errors_;
};

}  // namespace distrun::device
