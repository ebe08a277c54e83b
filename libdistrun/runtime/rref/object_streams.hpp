#pragma once
// The streams on which calls have used an object that is owned here, so that later calls are ordered after them. The
// value's own events cover only its creation; a method may have modified it since, on the streams of its call.
//
// Thread-safe.
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
  // Orders later work on the calling thread's current streams after all noted work.
  void follow() const;
  // Notes the work so far on the thread's current streams of these GPUs, and all noted before. Throws driver errors.
  void note(const std::vector<device::Device>& devices);
  // Keeps `what` until all noted work is done, then releases it on a handler thread of the rank.
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
