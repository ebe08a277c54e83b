#pragma once
// The outgoing half of a session's calls: packs and sends them.
//
//   requested -> packed -> numbered, pending -> sent -> ended (call_completions.hpp)
//             -> refused: thrown, or the error of the future
//
// A call is packed on its caller's thread, also by the encoders of classes. It may wait for room then (room.cpp), until
// its deadline: the request's, else the session's, but not later than that of the function that makes the call.
//
// Owned by Calls. Thread-safe; called on users' threads, on handlers' and in continuations. One lock, mutex_, under
// which nothing else is called. Throws Error{Failed} without a session, Error{InvalidArgument}, Error{Disconnected} and
// Error{Overloaded} for calls that cannot be sent, what encoders throw, and std::bad_alloc.
#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include <distrun/runtime/rpc/calls/call_completions.hpp>
#include <distrun/runtime/rpc/calls/call_request.hpp>
#include <distrun/runtime/rpc/calls/call_tally.hpp>
#include <distrun/runtime/rpc/calls/calls_shared.hpp>
#include <distrun/runtime/rpc/graph/graph.hpp>

namespace distrun::rpc {

struct CallHead;  // call_codec.hpp

class CallSender {
 public:
  explicit CallSender(CallsShared& shared);

  future::Future<Value> call(CallRequest request) {
    return future::Future<Value>::of(call(std::move(request), kResultOf<Value>));
  }
  std::shared_ptr<future::FutureState> call(CallRequest request, const ResultType& type);
  // The same for user threads: waits for room, and stores errors of delivery (is_of_delivery()) in the future.
  std::shared_ptr<future::FutureState> call_or_fail(CallRequest request, const ResultType& type);
  Value call_and_wait(CallRequest request);
  // Returns a future that completes after that time, on the timeout thread. It fails earlier with Error{Disconnected}
  // when `peer` is lost, and when the session ends. For the runtime, with quick continuations only.
  future::Future<void> rest(WorkerKey peer, base::Nanoseconds time, bool holds_shutdown);

  // The default timeout of calls; 0: no limit.
  void set_timeout(base::Nanoseconds timeout) noexcept { timeout_ns_.store(timeout.count()); }
  base::Nanoseconds timeout() const noexcept { return base::Nanoseconds(timeout_ns_.load()); }

  const CallTally& sent() const noexcept { return sent_; }  // without SectionTag::Repeated
  CallCompletions& completions() noexcept { return completions_; }
  const CallCompletions& completions() const noexcept { return completions_; }

  // Fails the pending calls to a worker that is gone.
  void lose(WorkerKey peer, const Error& why) noexcept;
  // Refuses further calls, and stops the timeout thread. Returns false if it had done so.
  bool close() noexcept;

 private:
  struct Outgoing;

  PendingCall begin(CallRequest request, const ResultType& type, Urgency urgency);
  Outgoing prepare(CallRequest& request);
  void write(Outgoing& outgoing, const CallHead& head, const CallRequest& request);
  base::TimePoint deadline_of(const CallRequest& request, base::Nanoseconds& timeout) const;
  void begin_in_room(Outgoing& outgoing, bool is_limited, base::Location site);
  // Assigns the call's number. Returns true if it had to wait. Throws Error{Overloaded} at its deadline. See room.cpp.
  bool wait_for_room(PendingCall& call, const std::string& worker, base::Location site);
  std::string waiting_text(const PendingCalls::Load& load, const std::string& worker,
                           const std::vector<WorkerId>& owing) const;
  void send(Outgoing& outgoing);
  void send_counted(Outgoing& outgoing);
  bool send_again(const PendingCall& call, const std::exception_ptr& error) noexcept;

  CallsShared& shared_;
  std::atomic<std::int64_t> timeout_ns_;
  std::atomic<bool> is_closed_{false};
  CallTally sent_;
  std::mutex mutex_;
  std::set<std::pair<WorkerKey, GraphHash>> graphs_sent_;  // guarded by mutex_
  CallCompletions completions_;
  PendingCalls& pending_ = completions_.pending();
};

// Returns whether a valid call could not be sent: its worker is gone, or too much data is in flight to it.
bool is_of_delivery(const Error& error) noexcept;
// Returns a failed future of that type.
std::shared_ptr<future::FutureState> failed_future(const ResultType& type, const Error& error, base::Location site);

}  // namespace distrun::rpc
