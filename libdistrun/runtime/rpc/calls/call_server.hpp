#pragma once
// The incoming half of a session's calls: runs the calls of other workers, and answers each of them once.
//
//   read -> refused (unreadable, or no memory)            -> answered
//        -> quick: run where it is read (run_call.hpp)    -> answered
//        -> listed (running_calls.hpp) -> queued -> running -> answered, or left out: the caller is gone
//
// An answer for which there is no memory is replaced by a shorter one; if that fails too, both workers lose each other,
// or a call of this worker to itself fails. When a call is cancelled, it is not run if it is still queued, and its
// function can check otherwise (call_context.hpp).
//
// Owned by Calls, of which its tasks are shared owners. Thread-safe: calls are read on the agent's threads, and
// answered there, on handlers' threads and in continuations. Has no lock; those of running_calls.hpp and
// call_context.hpp are released before anything else is called. Throws nothing but std::bad_alloc: what else goes wrong
// is an answer.
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <distrun/runtime/rpc/calls/call_tally.hpp>
#include <distrun/runtime/rpc/calls/calls_shared.hpp>
#include <distrun/runtime/rpc/calls/handler_wait.hpp>
#include <distrun/runtime/rpc/calls/run_call.hpp>
#include <distrun/runtime/rpc/calls/running_calls.hpp>

namespace distrun::rpc {

class CallServer final : public Answers {
 public:
  explicit CallServer(CallsShared& shared) noexcept : shared_(shared) {}

  // Takes a call that the agent has received, and counts it. Returns what is left to do, for a handler; null: nothing.
  std::unique_ptr<future::HandlerTask> receive(const WorkerInfo& from, Message&& message);
  // The same without counting, for a call of this worker to itself.
  std::unique_ptr<future::HandlerTask> begin(const WorkerInfo& from, Message&& message) noexcept;
  // The caller no longer waits for that call, or for any.
  void cancel(WorkerKey caller, std::uint64_t id) noexcept { running_.cancel(caller, id); }
  void lose(WorkerKey caller) noexcept { running_.cancel_all(caller); }

  int running() const noexcept { return running_.count(); }
  int running_async() const noexcept { return running_async_.load(); }
  const CallTally& received() const noexcept { return received_; }  // without SectionTag::Repeated
  void add_debug_info(std::map<std::string, std::string>& info) const { handler_wait_.add_debug_info(info); }

  // Answers.
  void reply(const CallContext& call, const Value& value) noexcept override;
  void fail(const CallContext& call, const Error& error, bool is_own) noexcept override;
  void begin_async() noexcept override { running_async_.fetch_add(1); }
  void end_async() noexcept override { running_async_.fetch_sub(1); }
  GraphCache& graphs() noexcept override { return graphs_; }
  ReferenceService* reference_service() noexcept override { return shared_.references.get(); }
  AutogradService* autograd_service() noexcept override { return shared_.autograd.get(); }
  DeviceCarrier& devices() noexcept override { return *shared_.devices; }
  HandlerWait* handler_wait() noexcept override { return &handler_wait_; }

 private:
  enum class Sent : std::uint8_t {
    Yes,
    Instead,  // the caller got an error instead, or is gone
    No,
  };
  using Kept = PendingCall::Kept;

  std::unique_ptr<future::HandlerTask> begin_readable(const WorkerInfo& from, Message& message,
                                                      const std::shared_ptr<ResultSink>& result);
  std::unique_ptr<future::HandlerTask> queue(const std::shared_ptr<CallContext>& call, Message&& message,
                                             bool may_run_here);
  std::shared_ptr<ResultSink> begin_result(const WorkerInfo& from, const Message& message);
  void refuse(const WorkerInfo& from, const Message& message, const std::shared_ptr<ResultSink>& result,
              const Error& why, bool is_own) noexcept;
  void refuse_unreadable(const WorkerInfo& from, const Message& message, const std::shared_ptr<ResultSink>& result);

  void end_result(const CallContext& call, const Value& value) noexcept;
  void end_work(const CallContext& call);
  // `forks`: those in the message.
  Sent send_answer(const CallContext& call, Message message, Forks forks = {}, DeviceCarrier::Kept kept = {}) noexcept;
  Sent send_failure(const CallContext& call, const Error& error);
  void fail_answer(const CallContext& call, const Error& error) noexcept;
  // There is no memory, or no thread, for an answer.
  void leave_unanswered(WorkerKey caller, std::uint64_t id, const Error& why) noexcept;

  CallsShared& shared_;
  GraphCache graphs_;
  RunningCalls running_;
  CallTally received_;
  std::atomic<int> running_async_{0};
  HandlerWait handler_wait_;
};

}  // namespace distrun::rpc
