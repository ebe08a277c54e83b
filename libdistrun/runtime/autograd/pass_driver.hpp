#pragma once
// The thread that drives a pass over a graph to its end (GraphTask::run()), and its sleep while other threads run nodes
// of the pass. Used under the mutex of the pass.
#include <condition_variable>
#include <functional>
#include <mutex>

namespace distrun::autograd {

class DeviceWorker;

class PassDriver {
 public:
  // Called by the thread, before the pass is shared.
  void begin() noexcept;
  // Called by the thread: blocks until `has_work`, which is asked with the mutex held. A worker's thread runs its
  // device's nodes meanwhile: the pass may need them.
  void wait(std::mutex& mutex, const std::function<bool()>& has_work);
  // Called by any thread, without the mutex, after `has_work` may have changed.
  void wake(std::mutex& mutex);

 private:
  std::condition_variable changed_;
  DeviceWorker* worker_ = nullptr;  // whose thread it is; null: another one
};

}  // namespace distrun::autograd
