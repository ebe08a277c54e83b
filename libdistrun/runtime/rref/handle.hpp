#pragma once
// A reference on this worker: the owner's, to its local value, or a user's, which is a fork. All copies of an RRef
// share one handle; when the last copy is destroyed, the owner is notified.
//
//   owner   ready
//   user    pending -> confirmed: the owner knows the fork     (usable in both states)
//             \________\______> timed out: the call that creates the value has; the value may exist or not
//              \________\_____> failed: the owner is gone, or has released the value
//               \________\____> deleted: the session has ended
//
// Thread-safe.
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/location.hpp>
#include <distrun/runtime/future/future.hpp>
#include <distrun/runtime/rpc/calls/call_request.hpp>
#include <distrun/runtime/rpc/calls/result_type.hpp>
#include <distrun/runtime/rpc/values/reference.hpp>
#include <distrun/runtime/rpc/values/value.hpp>
#include <distrun/runtime/rpc/worker_info.hpp>
#include <distrun/runtime/rref/protocol/id.hpp>

namespace distrun::rpc {
class Calls;
}

namespace distrun::rref {

class Handle;
struct OwnedValue;
using rpc::Value;
using Timeout = std::optional<double>;  // seconds; 0: no limit; none: the session's default

// Implemented by References; one per session.
class Keeper {
 public:
  virtual ~Keeper() = default;
  // Called when the last copy of a reference is destroyed.
  virtual void drop(const Handle& handle) noexcept = 0;
  // Throws Error{Failed} if the session has ended.
  virtual std::shared_ptr<rpc::Calls> calls() const = 0;
  virtual const WorkerInfo& self() const noexcept = 0;
};

class Handle final : public rpc::Reference, public std::enable_shared_from_this<Handle> {
 public:
  enum class State : std::uint8_t { Pending, Confirmed, TimedOut, Failed, Deleted };

  ~Handle() override;

  bool is_owner() const noexcept { return value_ != nullptr; }
  const WorkerInfo& owner() const noexcept { return owner_; }
  RRefId rref() const noexcept { return rref_; }
  ForkId fork() const noexcept { return fork_; }  // for users
  State state() const noexcept { return state_.load(std::memory_order_acquire); }
  // Returns whether the owner knows the fork.
  bool is_confirmed() const;

  // Returns the value, from its owner if necessary. Throws the error of the function that creates it, Error{Timeout},
  // Error{Disconnected} if the owner is gone, Error{Failed} for a reference that timed out or was deleted.
  Value to_here(Timeout timeout, base::Location site) const;
  // Returns a future of the value, converted as `type` says, or of the error.
  std::shared_ptr<future::FutureState> to_here_async(Timeout timeout, const rpc::ResultType& type,
                                                     base::Location site) const;
  // Waits until the value exists. Throws Error{Failed} on workers other than the owner.
  Value local_value(base::Location site) const;

  // Completes when the value exists, or its creation has failed; fails if the owner has not reported either.
  future::Future<Value> creation() const;
  // Returns the name of the value's type, "Tensor" or "MyClass". It is fetched once; later calls return the same
  // future. The timeout applies to the call that fetches.
  future::Future<std::string> type(Timeout timeout, base::Location site) const;

  // "OwnerRRef(GloballyUniqueId(created_on=0, local_id=0))", "UserRRef(RRefId = ..., ForkId = ...)"
  std::string text() const override;
  void check_shared() const override;
  // Throws Error{Failed} if the reference can no longer be used: "... Cannot " + what + " after deletion."
  void check(const char* what) const;
  const std::shared_ptr<Keeper>& keeper() const noexcept { return keeper_; }
  // Returns a call about this reference to its owner; the reference's id precedes the other arguments. Waits, stacks
  // and traces show it as `shown`, a text that is never freed. Keep the handle until the answer arrives.
  rpc::CallRequest request(const char* function, const char* shown, Timeout timeout, base::Location site) const;

 private:
  friend class References;
  Handle(std::shared_ptr<Keeper> keeper, WorkerInfo owner, RRefId rref);

  const std::shared_ptr<Keeper> keeper_;
  const WorkerInfo owner_;
  const RRefId rref_;
  const base::TimePoint since_;
  ForkId fork_;                        // of a user
  std::string site_;                   // of a user: the code that asked for it, or the worker that shared it
  std::shared_ptr<OwnedValue> value_;  // on the owner; null on users
  std::atomic<State> state_{State::Confirmed};
  mutable std::mutex mutex_;  // if the keeper's mutex is needed as well, it is locked first
  // Guarded by mutex_.
  std::string why_;                                // the reason of a failure
  int because_of_ = -1;                            // the rank that caused it
  std::optional<future::Future<Value>> creation_;  // on the worker that has made the call
  // Held while the owner is asked; an answer must not need it.
  mutable std::mutex asking_;
  mutable std::optional<future::Future<std::string>> type_;  // guarded by asking_
};
using HandlePtr = std::shared_ptr<Handle>;

// References of the calling thread's session, for user code without References. Both throw Error{Failed} without RPC.
HandlePtr refer_to_value(Value value, base::Location site);
// Returns a reference to the result of the call, which stays on the callee. Throws Error{InvalidArgument} for an
// invalid worker or invalid arguments. If the call cannot be sent, creation() and all uses of the reference fail.
HandlePtr refer_to_result(rpc::CallRequest request);

}  // namespace distrun::rref
