#pragma once
// Streams for the GPU work of a call: exclusively its own until it is answered. The most recently returned stream is
// reused first if its work is done: the allocator has memory for it, and sequential calls need only one stream.
//
// Thread-safe.
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include <distrun/runtime/device/memory/stream_uses.hpp>
#include <distrun/runtime/device/stream.hpp>

namespace distrun::rpc {

// The streams of one session.
class StreamPool {
 public:
  device::Stream take(device::Device device);
  void give(device::Stream stream) noexcept;
  // Called for a stream that can no longer be used, neither from this pool nor from the device's
  // (device/stream_pool.hpp). Throws what the driver throws.
  void replace(device::Stream stream);

 private:
  struct Idle {
    device::Stream stream;
    device::EventId event;  // of the work on it when it was returned
  };
  // The streams of one device.
  struct Pool {
    explicit Pool(device::Driver& driver) : events(driver) {}
    device::EventPool events;
    std::vector<Idle> idle;
    std::set<device::Stream> gone;
  };

  std::mutex mutex_;
  std::map<device::Device, Pool> pools_;  // guarded by mutex_
};

class StreamLease {
 public:
  // Makes the streams the calling thread's current ones. Throws what the driver throws.
  StreamLease(std::shared_ptr<StreamPool> pool, const std::vector<device::Device>& devices);
  ~StreamLease();
  StreamLease(const StreamLease&) = delete;
  StreamLease& operator=(const StreamLease&) = delete;

 private:
  const std::shared_ptr<StreamPool> pool_;
  std::vector<device::Stream> streams_;
};

}  // namespace distrun::rpc
