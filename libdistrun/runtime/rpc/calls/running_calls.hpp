#pragma once
// The calls of others that this rank runs or has queued: to cancel them, and to know when a session can end.
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <distrun/common/base/memory_share.hpp>
#include <distrun/runtime/rpc/calls/call_context.hpp>

namespace distrun::rpc {

// Thread-safe.
class RunningCalls {
 public:
  // `most`: bytes of all their messages; by default a quarter of the machine's memory, but at least 1 GiB.
  explicit RunningCalls(std::uint64_t most = base::quarter_of_memory()) : bytes_max_(most) {}

  // `bytes`: size of its message. Throws Error{Overloaded} beyond 1 M calls, and beyond the bytes unless it is the only
  // one. Does not list a call with a number that its caller already uses.
  void add(const std::shared_ptr<CallContext>& call, std::uint64_t bytes);
  void remove(const CallContext& call) noexcept;
  void cancel(WorkerKey caller, std::uint64_t id) noexcept;
  void cancel_all(WorkerKey caller) noexcept;

  // Returns at most `most` calls, for each caller the oldest first.
  std::vector<std::shared_ptr<const CallContext>> list(std::size_t most) const;
  int count() const noexcept { return static_cast<int>(count_.load()); }

 private:
  static constexpr std::size_t kCallsMax = 1 << 20;
  struct Running {
    std::shared_ptr<CallContext> call;
    std::uint64_t bytes = 0;
  };

  const std::uint64_t bytes_max_;
  std::atomic<std::size_t> count_{0};  // size of calls_; calls that are answered where they are read are not listed
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::pair<WorkerKey, std::uint64_t>, Running> calls_;
  std::uint64_t bytes_ = 0;  // of calls_
};

}  // namespace distrun::rpc
