#pragma once
// The calls of others that this rank runs, or has queued: whom to tell that a caller does not wait any more, and what
// there is to wait for before a session can end.
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <distrun/runtime/rpc/calls/call_context.hpp>

namespace distrun::rpc {

// Any thread.
class RunningCalls {
 public:
  // Throws Error{Overloaded} beyond 1 M calls. One whose number its caller uses already is not listed.
  void add(const std::shared_ptr<CallContext>& call);
  void remove(const CallContext& call) noexcept;
  void cancel(WorkerKey caller, std::uint64_t id) noexcept;
  void cancel_all(WorkerKey caller) noexcept;

  // Of each caller the oldest first, at most `most`.
  std::vector<std::shared_ptr<const CallContext>> list(std::size_t most) const;
  int count() const noexcept { return static_cast<int>(count_.load()); }

 private:
  static constexpr std::size_t kCallsMax = 1 << 20;

  std::atomic<std::size_t> count_{0};  // of calls_; those that are answered where they are read are in none
  mutable std::mutex mutex_;
  std::map<std::pair<WorkerKey, std::uint64_t>, std::shared_ptr<CallContext>> calls_;  // guarded by mutex_
};

}  // namespace distrun::rpc
