#pragma once
// On which streams calls have worked with an object that is kept here: what later calls do with it comes after that.
// Events of the value itself tell only what has made it; a method may have changed it since, on the streams of its own
// call.
//
// Any thread.
#include <memory>
#include <mutex>
#include <vector>

#include <distrun/runtime/device/stream.hpp>

namespace distrun::core {
class RankState;
}

namespace distrun::rref {

class ObjectStreams {
 public:
  // What the calling thread's current streams do from now on comes after all that was noted.
  void follow() const;
  // Notes what the calling thread's current streams of these GPUs have to do by now, and all that was noted before.
  // Throws what the driver throws.
  void note(const std::vector<device::Device>& devices);
  // Keeps it until all that was noted is done, and lets go of it on a handler's thread of that rank.
  void keep_until_done(std::shared_ptr<const void> what, core::RankState& rank) noexcept;

 private:
  struct Point {
    device::Stream stream;
    device::Event event;
  };

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const Point>> points_;  // guarded by mutex_; one for each device
};

}  // namespace distrun::rref
