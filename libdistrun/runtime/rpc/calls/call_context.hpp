#pragma once
// What a function that runs for somebody else can know of that: who calls it, how much time is left, and whether the
// caller still waits. Calls that it makes itself have no more time than it has.
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <distrun/common/base/clock.hpp>
#include <distrun/runtime/rpc/calls/devices.hpp>
#include <distrun/runtime/rpc/worker_info.hpp>

namespace distrun::rpc {

class CallContext {
 public:
  CallContext(WorkerInfo caller_, std::uint64_t id_, const char* name_, base::TimePoint deadline_)
      : caller(std::move(caller_)), id(id_), name(name_), deadline(deadline_) {}

  const WorkerInfo caller;
  const std::uint64_t id;          // the caller's number of the call
  const char* const name;          // of the function; lives until the process ends
  const base::TimePoint deadline;  // core::kForever: none
  DeviceMap back;                  // where tensors of the answer go; set before it runs

  // The caller does not wait any more: what comes of it interests nobody.
  bool is_cancelled() const noexcept { return is_cancelled_.load(std::memory_order_acquire); }
  void cancel() noexcept { is_cancelled_.store(true, std::memory_order_release); }

 private:
  std::atomic<bool> is_cancelled_{false};
};

// Of the call that the thread runs, or goes on with in a callback; null: none.
std::shared_ptr<const CallContext> current_call() noexcept;

}  // namespace distrun::rpc
