#include <distrun/runtime/rpc/calls/running_calls.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/thread_state.hpp>

namespace distrun::rpc {

void RunningCalls::add(const std::shared_ptr<CallContext>& call, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (calls_.size() >= kCallsMax) {
    throw Error(ErrorKind::Overloaded, "too many calls of others are queued: " + std::to_string(kCallsMax));
  }
  if (bytes_ != 0 && (bytes_ > bytes_max_ || bytes > bytes_max_ - bytes_)) {
    throw Error(ErrorKind::Overloaded, "too much is to be done for others: " + std::to_string(calls_.size()) +
                                           " calls of " + std::to_string(bytes_) + " bytes, of " +
                                           std::to_string(bytes_max_) + ", and there is no room for " +
                                           std::to_string(bytes) + " more");
  }
  if (calls_.emplace(std::pair(call->caller.key(), call->id), Running{call, bytes}).second) bytes_ += bytes;
  count_.store(calls_.size());
}

void RunningCalls::remove(const CallContext& call) noexcept {
  if (count_.load() == 0) return;
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find({call.caller.key(), call.id});
  if (found != calls_.end() && found->second.call.get() == &call) {
    bytes_ -= found->second.bytes;
    calls_.erase(found);
  }
  count_.store(calls_.size());
}

void RunningCalls::cancel(WorkerKey caller, std::uint64_t id) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find({caller, id});
  if (found != calls_.end()) found->second.call->cancel();
}

void RunningCalls::cancel_all(WorkerKey caller) noexcept {
  const std::lock_guard lock(mutex_);
  for (auto each = calls_.lower_bound({caller, 0}); each != calls_.end() && each->first.first == caller; ++each) {
    each->second.call->cancel();
  }
}

std::vector<std::shared_ptr<const CallContext>> RunningCalls::list(std::size_t most) const {
  std::vector<std::shared_ptr<const CallContext>> calls;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, call] : calls_) {
    if (calls.size() == most) break;
    calls.push_back(call.call);
  }
  return calls;
}

std::shared_ptr<const CallContext> current_call() noexcept {
  return std::static_pointer_cast<const CallContext>(core::thread_state().call);
}

}  // namespace distrun::rpc
