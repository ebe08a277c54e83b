#pragma once
// Events of this process that others wait for, with their handles. They are reused, since creating one costs more than
// a small copy. A waiting process waits for the latest recording, so an event rests before it is recorded again.
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
