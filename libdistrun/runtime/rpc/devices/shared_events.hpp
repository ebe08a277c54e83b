#pragma once
// Events of this process that others wait for, with their handles, to be used again: making one costs more than a small
// copy. Who has a handle waits for the last recording by then, so an event rests a while before it is recorded again.
//
// Any thread.
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
  // Throws what the driver throws: Error{Overloaded} if it has no more of them.
  SharedEvent take(device::Device device);
  void give(device::Device device, SharedEvent event);

 private:
  std::mutex mutex_;
  std::map<device::Device, std::deque<SharedEvent>> resting_;  // guarded by mutex_; the longest first
};

}  // namespace distrun::rpc
