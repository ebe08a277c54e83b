#pragma once
// What a function that runs for somebody else can know of that: who calls it, how much time is left, and whether the
// caller still waits. Calls that it makes itself have no more time than it has.
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
  const char* const name;          // of the function; lives until the process ends
  const base::TimePoint deadline;  // core::kForever: none
  DeviceMap back;                  // where tensors of the answer go; set before it runs
  mutable TensorList arrived;      // on GPUs, that came with it; kept until it is answered. Set before it runs
  mutable std::shared_ptr<StreamLease> streams;  // on which it is run; until it is answered. Set before it runs
  // Takes the result, which stays here as a reference, and the caller gets none; null: he gets it. Set before it runs.
  std::shared_ptr<ResultSink> result;

  std::optional<std::weak_ptr<Calls>> calls;  // of the session that it came in. Set before it runs
  std::int64_t autograd = -1;  // the context of distributed autograd that it was made in; -1: none. Set before it runs

  std::string parent;  // the trace of the call that the caller has made it for; empty: none. Set before it runs

  // Its hierarchical id, by the ranks that have called and their numbers: "0.17/1.81", for the 17th call of rank 0, in
  // which rank 1 has made its 81st.
  std::string trace() const {
    return (parent.empty() ? "" : parent + "/") + std::to_string(caller.id()) + "." + std::to_string(id);
  }

  std::shared_ptr<ServedProfile> profile;  // of what is done for it; null: nobody wants to know. Set before it runs

  // Until it is answered, the call works on that object. Any thread.
  void works_on(std::shared_ptr<WorkedOn> object) const {
    const std::lock_guard lock(mutex_);
    objects_.push_back(std::move(object));
  }
  // On the calling thread's current streams of these GPUs it has done what it does.
  void end_work(const std::vector<device::Device>& devices) const noexcept;

  // The caller does not wait any more: what comes of it interests nobody.
  bool is_cancelled() const noexcept { return is_cancelled_.load(std::memory_order_acquire); }
  void cancel() noexcept { is_cancelled_.store(true, std::memory_order_release); }

 private:
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<WorkedOn>> objects_;  // guarded by mutex_
  std::atomic<bool> is_cancelled_{false};
};

// Of the call that the thread runs, or goes on with in a callback; null: none.
std::shared_ptr<const CallContext> current_call() noexcept;

}  // namespace distrun::rpc
