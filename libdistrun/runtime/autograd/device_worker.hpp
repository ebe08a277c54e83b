#pragma once
// The thread that runs the nodes of one GPU, for all passes of a rank. A device's worker starts when the first pass
// touches the device, so a process can fork before; it lives until the process ends. Ranks that are threads of one
// process have separate workers: a node may wait for other ranks, as that of a batch normalisation over all ranks does.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include <distrun/common/base/process_mark.hpp>
#include <distrun/runtime/autograd/pass_table.hpp>
#include <distrun/runtime/core/thread_state.hpp>
#include <distrun/runtime/device/device.hpp>

namespace distrun::autograd {

// Gives a worker work, identified by entry numbers: a pass.
class WorkGiver : public tensor::Counted {
 public:
  // Called on the worker's thread; must not throw.
  virtual void run_on_worker(EntryIndex entry) = 0;
};

class DeviceWorker {
 public:
  struct Work {
    Ref<WorkGiver> giver;
    std::uint64_t sequence = 0;
    std::uint32_t nesting = 0;
    EntryIndex entry = 0;

    // Inner passes run first, since the outer ones wait for them.
    friend bool operator<(const Work& a, const Work& b) noexcept {
      return a.nesting != b.nesting ? a.nesting < b.nesting : a.sequence < b.sequence;
    }
  };

  explicit DeviceWorker(Device device);

  // Thread-safe. Sorts all works before the first of them begins.
  void push(std::vector<Work> works);
  void wake();

  // Throws Error{Failed} in a process that was forked after the worker was started: the thread does not exist there.
  void check_process() const;

  // Called on the worker's thread: runs incoming work until `ready()`.
  void run_until(const std::function<bool()>& ready);

 private:
  bool take(Work& work, const std::function<bool()>& ready);

  const Device device_;
  const base::ProcessMark mark_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Work> heap_;   // guarded by mutex_
  std::uint64_t wakes_ = 0;  // guarded by mutex_
};

// Returns the worker of that GPU and that rank (null: the process's), and starts it on the first call. Throws
// Error{Overloaded} if no thread can be created.
DeviceWorker& device_worker(Device device, const core::RankState* rank);
// Returns the calling worker's object; null on other threads.
DeviceWorker* current_device_worker() noexcept;

}  // namespace distrun::autograd
