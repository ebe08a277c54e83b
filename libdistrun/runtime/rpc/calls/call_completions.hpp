#pragma once
// Ends the outgoing calls of a session: each call once, by the first of these events.
//
//   pending -> answered         the answer is read where it has arrived (short ones), or by a handler (all others)
//           -> sent again       its graph function was missing there (CallSender)
//           -> timed out        the callee is notified; late answers are dropped
//           -> lost, closed     the worker is gone, or the session ends
//
// The value must be decoded by the call's deadline, since the decoders of classes may take any time: until then the
// call stays pending, and may still time out.
//
// Owned by CallSender; tasks that read answers are shared owners of Calls. Thread-safe: answers come on the agent's
// threads, timeouts on the thread of pending_calls.hpp, losses on any. Has no lock; that of pending_calls.hpp is
// released before a future completes. Throws nothing: what goes wrong is the error of the call's future.
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <distrun/runtime/rpc/calls/calls_shared.hpp>
#include <distrun/runtime/rpc/calls/pending_calls.hpp>

namespace distrun::rpc {

class CallCompletions {
 public:
  // Sends a call that has failed once more, and returns true; false: that `error` is the call's answer. Must not throw.
  using SendAgain = std::function<bool(const PendingCall& call, const std::exception_ptr& error)>;

  CallCompletions(CallsShared& shared, SendAgain send_again);

  PendingCalls& pending() noexcept { return pending_; }
  const PendingCalls& pending() const noexcept { return pending_; }
  // Counts the answers and timeouts that are being delivered; pending().count() no longer includes them.
  int ending() const noexcept { return ending_.load() + pending_.expiring(); }

  // Takes an answer. Returns what is left to do, for a handler; null: nothing.
  std::unique_ptr<future::HandlerTask> receive(const WorkerInfo& from, Message&& message) noexcept;
  // Fails the call with that number to that worker, if it is pending.
  void fail(std::uint64_t id, WorkerKey peer, const Error& why) noexcept;
  // Fails all pending calls, or those to that worker.
  void fail_all(const Error& why, std::optional<WorkerKey> peer = {}) noexcept;
  // These end a call that was taken out of pending().
  void fail_taken(const PendingCall& call, const Error& why) noexcept;
  void expire(PendingCall call) noexcept;
  // Call once the agent has the call, before its caller can see the timeout. A call that has expired before that is
  // cancelled again: the agent had nothing to withdraw then.
  void cancel_if_expired(const PendingCall& call) noexcept;

 private:
  class Ending;
  struct Complete;

  // Returns nullopt if the call has ended, or if the answer is late.
  std::optional<PendingCall> take_answered(const Message& answer, WorkerKey from);
  std::unique_ptr<future::HandlerTask> end_taken(const WorkerInfo& from, std::optional<PendingCall>& call,
                                                 Message&& message, Ending ending);
  void end_unread(const PendingCall& call, const Message& message) noexcept;
  void end_unreadable(const std::optional<PendingCall>& call, const WorkerInfo& from, const Message& message);
  void begin_reading(PendingCall call);
  Value read_reply_of(const PendingCall& call, const Message& message);
  void complete(const PendingCall& call, Message message) noexcept;
  void end_rest(const PendingCall& rest) noexcept;
  // `shown`: the callee's state, appended to the error's text.
  void fail_expired(const PendingCall& call, const std::string& shown) noexcept;
  // Requires that the future's completion has begun.
  void end_expired(const PendingCall& call, const std::string& shown) noexcept;
  void cancel(const PendingCall& call) noexcept;

  CallsShared& shared_;
  const SendAgain send_again_;
  std::atomic<int> ending_{0};
  PendingCalls pending_;
};

}  // namespace distrun::rpc
