#include <distrun/runtime/rpc/devices/shared_events.hpp>

#include <utility>

#include <distrun/common/base/error.hpp>

namespace distrun::rpc {
namespace {

constexpr std::size_t kResting = 32;

SharedEvent make(device::Device device) {
  SharedEvent made{device::Event({.interprocess = true}), {}};
  made.handle = made.event.export_handle(device);
  return made;
}

}  // namespace

SharedEvent SharedEvents::take(device::Device device) {
  const std::lock_guard lock(mutex_);
  std::deque<SharedEvent>& resting = resting_[device];
  if (resting.size() < kResting) {
    try {
      return make(device);
    } catch (const Error& why) {
      if (why.kind() != ErrorKind::Overloaded || resting.empty()) throw;
    }
  }
  SharedEvent event = std::move(resting.front());
  resting.pop_front();
  return event;
}

void SharedEvents::give(device::Device device, SharedEvent event) {
  const std::lock_guard lock(mutex_);
  resting_[device].push_back(std::move(event));
}

}  // namespace distrun::rpc
