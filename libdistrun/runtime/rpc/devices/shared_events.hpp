#pragma once
// Events of this process that other processes wait for, with their handles. They are reused, since creating one costs
// more than a small copy. A process with the handle waits for the latest recording at that time, so an event is not
// recorded again for a while.
//
// Thread-safe.
#include <deque>
#include <map>
#include <mutex>

#include <distrun/runtime/device/stream.hpp>

namespace distrun::rpc {

struct SharedEvent {
  device::Event event;
  device::IpcHandle handle;
};

class SharedEvents {
 public:
  // Throws what the driver throws: Error{Overloaded} if it has no more shareable events.
  SharedEvent take(device::Device device);
  void give(device::Device device, SharedEvent event);

 private:
  std::mutex mutex_;
  std::map<device::Device, std::deque<SharedEvent>> resting_;  // the longest resting first
};

}  // namespace distrun::rpc
