#pragma once
// Reads of this worker's memory by workers of the same process, itself included; later work on the memory is ordered
// after them. Other processes report their reads in messages (SentDevices::reads).
//
// Thread-safe.
#include <atomic>
#include <map>
#include <mutex>
#include <vector>

#include <distrun/runtime/device/memory/stream_uses.hpp>
#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/rpc/worker_info.hpp>

namespace distrun::rpc {

class LocalReads {
 public:
  // Notes that the reader's work so far on the stream reads this worker's memory. Throws what the driver throws.
  void note(WorkerKey reader, device::Stream stream);
  bool has(WorkerKey reader) const;  // no cost if there never was a read
  // Orders the calling thread's current streams of these GPUs after that worker's reads.
  void follow(WorkerKey reader, const std::vector<device::Device>& devices);

 private:
  struct Read {
    device::Device device;
    device::EventId event;
  };

  std::atomic<bool> was_used_{false};
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<device::Device, device::EventPool> events_;
  std::map<WorkerKey, std::vector<Read>> reads_;
};

}  // namespace distrun::rpc
