#pragma once
// Streams for what a call has to do on GPUs: its own, as long as it is not answered. Of those that were given back the
// last comes first, if what is on it is done: the allocator has memory for that stream already, and calls one after the
// other need no more than one call does.
//
// Any thread.
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include <distrun/runtime/device/memory/stream_uses.hpp>
#include <distrun/runtime/device/stream.hpp>

namespace distrun::rpc {

// Of one session.
class StreamPool {
 public:
  device::Stream take(device::Device device);
  void give(device::Stream stream) noexcept;
  // It is of no use any more, for this pool nor for the device's (device/stream_pool.hpp). Throws what the driver
  // throws.
  void replace(device::Stream stream);

 private:
  struct Idle {
    device::Stream stream;
    device::EventId event;  // of what was on it when it was given back
  };
  // Of one device.
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
  // They are the calling thread's current ones then. Throws what the driver throws.
  StreamLease(std::shared_ptr<StreamPool> pool, const std::vector<device::Device>& devices);
  ~StreamLease();
  StreamLease(const StreamLease&) = delete;
  StreamLease& operator=(const StreamLease&) = delete;

 private:
  const std::shared_ptr<StreamPool> pool_;
  std::vector<device::Stream> streams_;
};

}  // namespace distrun::rpc
