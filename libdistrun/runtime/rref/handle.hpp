#pragma once
// A reference as this worker has it: the owner's, to its own value, or a fork of it (a user's). All copies of an RRef
// share one; when the last goes, the owner hears of it.
//
//   owner   ready
//   user    pending -> confirmed: the owner knows of it     (usable in both)
//             \________\______> timed out: the call that was to make the value has; the value may be there or not
//              \________\_____> failed: the owner is gone, or has let go
//               \________\____> deleted: the session is over
//
// Any thread.
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
using Timeout = std::optional<double>;  // seconds; 0: no limit; not there: the session's

// Of one session (References).
class Keeper {
 public:
  virtual ~Keeper() = default;
  // The last copy of it goes.
  virtual void drop(const Handle& handle) noexcept = 0;
  // Throws Error{Failed} if the session is over.
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
  ForkId fork() const noexcept { return fork_; }  // of a user
  State state() const noexcept { return state_.load(std::memory_order_acquire); }
  // The owner knows of it.
  bool is_confirmed() const;

  // The value, from wherever it is. Throws what the function that makes it has thrown; Error{Timeout};
  // Error{Disconnected} if the owner is gone; Error{Failed} for a reference that timed out or was deleted.
  Value to_here(Timeout timeout, base::Location site) const;
  // A future of that, of the type that `type` makes of it.
  std::shared_ptr<future::FutureState> to_here_async(Timeout timeout, const rpc::ResultType& type,
                                                     base::Location site) const;
  // The owner's: waits until it is there. Throws Error{Failed} to a user.
  Value local_value(base::Location site) const;

  // Done when the value is there, or could not be made; with an error if the owner has not said so.
  future::Future<Value> creation() const;
  // The name of the value's type, "Tensor" or "MyClass"; asked for once, the same future each time. A timeout counts
  // for the call that asks.
  future::Future<std::string> type(Timeout timeout, base::Location site) const;

  // "OwnerRRef(GloballyUniqueId(created_on=0, local_id=0))", "UserRRef(RRefId = ..., ForkId = ...)"
  std::string text() const override;
  void check_shared() const override;
  // Throws Error{Failed} if it can't be used any more: "... Cannot " + what + " after deletion."
  void check(const char* what) const;
  const std::shared_ptr<Keeper>& keeper() const noexcept { return keeper_; }
  // A call of its owner about this reference: the function gets its id before the other arguments. Waits, stacks and
  // traces call it `shown`, a text that is never freed. Whoever gets the answer must keep the handle until then.
  rpc::CallRequest request(const char* function, const char* shown, Timeout timeout, base::Location site) const;

 private:
  friend class References;
  Handle(std::shared_ptr<Keeper> keeper, WorkerInfo owner, RRefId rref);

  const std::shared_ptr<Keeper> keeper_;
  const WorkerInfo owner_;
  const RRefId rref_;
  const base::TimePoint since_;
  ForkId fork_;                        // a user's
  std::string site_;                   // a user's: where it was asked for, or who has shared it
  std::shared_ptr<OwnedValue> value_;  // the owner's; null: a user's
  std::atomic<State> state_{State::Confirmed};
  mutable std::mutex mutex_;  // taken after that of the keeper, where both are
  // Guarded by mutex_.
  std::string why_;                                // it has failed
  int because_of_ = -1;                            // the rank from which that follows
  std::optional<future::Future<Value>> creation_;  // of whoever has made the call
  // Held while the owner is asked, so no lock that an answer needs.
  mutable std::mutex asking_;
  mutable std::optional<future::Future<std::string>> type_;  // guarded by asking_
};
using HandlePtr = std::shared_ptr<Handle>;

// References of the calling thread's session, for users' code, which knows nothing of References. Both throw
// Error{Failed} without RPC.
HandlePtr refer_to_value(Value value, base::Location site);
// To the result of the call, which stays where it is made. Throws Error{InvalidArgument} for a worker or arguments that
// can't be; a call that can't be sent is an error of creation(), and of all that is asked of the reference.
HandlePtr refer_to_result(rpc::CallRequest request);

}  // namespace distrun::rref
