#include <distrun/runtime/rref/object_streams.hpp>

#include <atomic>
#include <utility>

#include <distrun/runtime/future/handler_pool.hpp>
#include <distrun/runtime/rpc/calls/task.hpp>

namespace distrun::rref {

void ObjectStreams::follow() const {
  const std::lock_guard lock(mutex_);
  for (const auto& point : points_) point->event.block(device::current_stream(point->stream.device()));
}

void ObjectStreams::note(const std::vector<device::Device>& devices) {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const Point>> fresh;
  for (const device::Device device : devices) {
    const device::Stream stream = device::current_stream(device);
    for (const auto& point : points_) {
      if (point->stream.device() == device) point->event.block(stream);
    }
    auto point = std::make_shared<Point>();
    point->stream = stream;
    point->event.record(stream);
    fresh.push_back(std::move(point));
  }
  points_ = std::move(fresh);
}

// The object's memory returns to the streams of its allocation, which do not know the streams of later calls.
void ObjectStreams::keep_until_done(std::shared_ptr<const void> what, core::RankState& rank) noexcept {
  struct Kept {
    std::vector<std::shared_ptr<const Point>> points;
    std::shared_ptr<const void> what;
    std::atomic<std::size_t> open;
  };
  try {
    const std::lock_guard lock(mutex_);
    if (points_.empty()) return;
    const auto kept = std::make_shared<Kept>();
    kept->points = points_;
    kept->what = std::move(what);
    kept->open = points_.size();
    const auto let_go = [kept] {
      // makes the completion visible to the host
      for (const auto& point : kept->points) static_cast<void>(point->event.is_done());
      // The last callback may still hold `kept`, and must not destroy what uses a driver.
      kept->what = nullptr;
      kept->points.clear();
    };
    for (const auto& point : points_) {
      point->stream.driver().call_host(point->stream.ref(), [kept, let_go, &rank] {
        if (--kept->open == 0) future::handler_pool_of(rank).post_control(rpc::task_of(let_go));
      });
    }
  } catch (const std::exception&) {
    return;  // no memory or no stream: releases it now
  }
}

}  // namespace distrun::rref
