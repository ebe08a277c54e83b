#include <distrun/runtime/autograd/pass_driver.hpp>

#include <distrun/runtime/autograd/device_worker.hpp>
#include <distrun/runtime/core/wait.hpp>

namespace distrun::autograd {

void PassDriver::begin() noexcept { worker_ = current_device_worker(); }

void PassDriver::wait(std::mutex& mutex, const std::function<bool()>& has_work) {
  if (worker_ != nullptr) {
    worker_->run_until([&] {
      const std::lock_guard guard(mutex);
      return has_work();
    });
    return;
  }
  std::unique_lock guard(mutex);
  board::WaitInfo info;
  info.kind = board::WaitKind::Backward;
  info.name = "nodes of GPUs";
  core::wait_until(info, guard, changed_, core::kForever, has_work);
}

void PassDriver::wake(std::mutex& mutex) {
  {
    const std::lock_guard guard(mutex);  // a driver that is about to sleep has seen it, or sleeps already
  }
  changed_.notify_all();
  if (worker_ != nullptr) worker_->wake();
}

}  // namespace distrun::autograd
