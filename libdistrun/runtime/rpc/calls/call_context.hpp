#pragma once
// The context of a function that runs for a caller: the caller, the time left, and whether the caller still waits.
// Calls made by the function have the same deadline at the latest.
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/runtime/rpc/calls/worked_on.hpp>
#include <distrun/runtime/rpc/devices/device_map.hpp>
#include <distrun/runtime/rpc/devices/stream_lease.hpp>
#include <distrun/runtime/rpc/values/reference.hpp>
#include <distrun/runtime/rpc/worker_info.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::rpc {

class Calls;          // calls.hpp
class ServedProfile;  // served_profile.hpp

class CallContext {
 public:
  CallContext(WorkerInfo caller_, std::uint64_t id_, const char* name_, base::TimePoint deadline_)
      : caller(std::move(caller_)), id(id_), name(name_), deadline(deadline_) {}

  const WorkerInfo caller;
  const std::uint64_t id;          // the caller's number of the call
  const char* const name;          // the function's; lives until the process ends
  const base::TimePoint deadline;  // core::kForever: no deadline
  DeviceMap back;                  // device map of the answer; set before the function runs
  mutable TensorList arrived;      // its tensors on GPUs, kept until it is answered; set before the function runs
  mutable std::shared_ptr<StreamLease> streams;  // held until it is answered; set before the function runs
  // Receives the result if it stays here as a reference; null: the caller gets it. Set before the function runs.
  std::shared_ptr<ResultSink> result;

  std::optional<std::weak_ptr<Calls>> calls;  // of the session that received the call. Set before the function runs
  std::int64_t autograd = -1;                 // context of distributed autograd; -1: none. Set before the function runs

  std::string parent;  // trace of the call that the caller was running; empty: none. Set before the function runs

  // Returns the hierarchical id of ranks and call numbers: "0.17/1.81" is call 81 of rank 1 in call 17 of rank 0.
  std::string trace() const {
    return (parent.empty() ? "" : parent + "/") + std::to_string(caller.id()) + "." + std::to_string(id);
  }

  std::shared_ptr<ServedProfile> profile;  // null: not profiled; set before the function runs

  // Notes that the call uses the object until it is answered. Thread-safe.
  void works_on(std::shared_ptr<WorkedOn> object) const {
    const std::lock_guard lock(mutex_);
    objects_.push_back(std::move(object));
  }
  // Orders later users of the noted objects after the work on the calling thread's current streams of these GPUs.
  void end_work(const std::vector<device::Device>& devices) const noexcept;

  // Returns whether the caller no longer waits: the result is not needed.
  bool is_cancelled() const noexcept { return is_cancelled_.load(std::memory_order_acquire); }
  void cancel() noexcept { is_cancelled_.store(true, std::memory_order_release); }

 private:
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<WorkedOn>> objects_;  // guarded by mutex_
  std::atomic<bool> is_cancelled_{false};
};

// Returns the context of the call that this thread runs, or continues in a callback; null: none.
std::shared_ptr<const CallContext> current_call() noexcept;

}  // namespace distrun::rpc
