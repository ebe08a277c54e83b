#include <distrun/runtime/autograd/device_worker.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include <distrun/common/base/thread.hpp>

namespace distrun::autograd {
namespace {

constinit thread_local DeviceWorker* worker_of_thread = nullptr;

// Never destroyed: the threads live as long as the process.
struct Workers {
  std::mutex mutex;
  std::map<std::pair<const core::RankState*, Device>, std::unique_ptr<DeviceWorker>> all;
};
Workers& workers() {
  static Workers* const all = new Workers;
  return *all;
}

}  // namespace

DeviceWorker::DeviceWorker(Device device) : device_(device) {
  base::Thread("distrun-ag " + to_string(device), [this] {
    worker_of_thread = this;
    run_until([] { return false; });
  }).leave_running();
}

void DeviceWorker::check_process() const {
  if (!mark_.is_inherited()) return;
  mark_.refuse("the autograd thread of " + to_string(device_),
               "run backward() in the parent process, or exec() a program", {});
}

void DeviceWorker::push(std::vector<Work> works) {
  {
    const std::lock_guard lock(mutex_);
    std::move(works.begin(), works.end(), std::back_inserter(heap_));
    std::make_heap(heap_.begin(), heap_.end());
  }
  changed_.notify_one();
}

void DeviceWorker::wake() {
  {
    const std::lock_guard lock(mutex_);
    ++wakes_;
  }
  changed_.notify_one();
}

// Blocks until there is work, or until ready() is true: returns false then, and `work` is not set. ready() is called
// without the lock, since it may lock the mutex of a pass; `wakes_` counts the notifications that come meanwhile. An
// idle worker records no wait.
bool DeviceWorker::take(Work& work, const std::function<bool()>& ready) {
  std::unique_lock lock(mutex_);
  for (;;) {
    const std::uint64_t wakes = wakes_;
    lock.unlock();
    if (ready()) return false;
    lock.lock();
    changed_.wait(lock, [this, wakes] { return !heap_.empty() || wakes_ != wakes; });
    if (heap_.empty()) continue;
    std::pop_heap(heap_.begin(), heap_.end());
    work = std::move(heap_.back());
    heap_.pop_back();
    return true;
  }
}

void DeviceWorker::run_until(const std::function<bool()>& ready) {
  for (Work work; take(work, ready); work = Work()) work.giver->run_on_worker(work.entry);
}

DeviceWorker& device_worker(Device device, const core::RankState* rank) {
  Workers& of = workers();
  const std::lock_guard lock(of.mutex);
  auto& worker = of.all[{rank, device}];
  if (!worker) worker = std::make_unique<DeviceWorker>(device);
  worker->check_process();
  return *worker;
}

DeviceWorker* current_device_worker() noexcept { return worker_of_thread; }

}  // namespace distrun::autograd
