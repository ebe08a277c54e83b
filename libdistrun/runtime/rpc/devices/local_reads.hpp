#pragma once
// Reads of this worker's memory by others of the same process, and by itself: what it does with that memory later comes
// after them. Of other processes the messages tell (SentDevices::reads).
//
// Any thread.
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
  // What that worker has put on the stream by now reads it. Throws what the driver throws.
  void note(WorkerKey reader, device::Stream stream);
  bool has(WorkerKey reader) const;  // costs nothing where there are none at all
  // The calling thread's current streams of these GPUs come after what that worker reads.
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
