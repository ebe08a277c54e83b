#include <distrun/runtime/rref/handle.hpp>

#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/calls/calls.hpp>
#include <distrun/runtime/rref/later.hpp>
#include <distrun/runtime/rref/methods.hpp>
#include <distrun/runtime/rref/owned_value.hpp>

namespace distrun::rref {
namespace {

std::optional<base::Nanoseconds> limit_of(Timeout timeout) {
  if (!timeout || *timeout == 0) return std::nullopt;
  return base::nanoseconds_of(*timeout);
}

// Returns a failed future if the reference can no longer be used, else null.
std::shared_ptr<future::FutureState> refusal(const Handle& handle, const char* what, const rpc::ResultType& type,
                                             base::Location site) {
  try {
    handle.check(what);
    return nullptr;
  } catch (const Error& error) {
    return rpc::failed_future(type, error, site);
  }
}

}  // namespace

Handle::Handle(std::shared_ptr<Keeper> keeper, WorkerInfo owner, RRefId rref)
    : keeper_(std::move(keeper)), owner_(std::move(owner)), rref_(rref), since_(base::system_clock().now()) {}

Handle::~Handle() { keeper_->drop(*this); }

std::string Handle::text() const {
  if (is_owner()) return "OwnerRRef(" + to_string(rref_) + ")";
  return "UserRRef(RRefId = " + to_string(rref_) + ", ForkId = " + to_string(fork_) + ")";
}

// A thread that has waited for the creation may ask before state_ has been updated.
bool Handle::is_confirmed() const {
  const State now = state();
  if (is_owner() || now == State::Confirmed) return true;
  const std::lock_guard lock(mutex_);
  return now == State::Pending && creation_ && creation_->done() && !creation_->failed();
}

void Handle::check(const char* what) const {
  if (is_owner()) return;
  const State now = state();
  if (now == State::Pending || now == State::Confirmed) return;
  if (now == State::Deleted) {
    throw Error(ErrorKind::Failed, "RuntimeError",
                text() + " has been deleted. Cannot " + what + " after deletion. Its session is over.");
  }
  const std::lock_guard lock(mutex_);
  if (now == State::TimedOut) throw unconfirmed(why_);
  throw Error(ErrorKind::Disconnected, "RuntimeError", text() + " can no longer be used: " + why_)
      .with_cause(because_of_);
}

void Handle::check_shared() const { check("call fork an UserRRef"); }

rpc::CallRequest Handle::request(const char* function, const char* shown, Timeout timeout, base::Location site) const {
  rpc::Destination to(owner_, site);
  if (timeout) to = to.within(*timeout);
  rpc::CallRequest request{std::move(to), rpc::target_of(function), {}};
  request.arguments.positional.push_back(rpc::to_value(rref_.created_on));
  request.arguments.positional.push_back(rpc::to_value(rref_.local_id));
  request.shown = shown;
  return request;
}

Value Handle::to_here(Timeout timeout, base::Location site) const {
  if (is_owner()) {
    Value value = value_->future.wait(limit_of(timeout), site);
    begin_work(value_);
    return value;
  }
  check("call to_here() on it");
  return keeper_->calls()->sender().call_and_wait(request(kFetch, "RRef.to_here", timeout, site));
}

std::shared_ptr<future::FutureState> Handle::to_here_async(Timeout timeout, const rpc::ResultType& type,
                                                           base::Location site) const {
  if (is_owner()) {
    auto child = type.make(future::info_of_child(*value_->future.state(), site));
    value_->future.state()->attach(std::make_unique<StoreLater>(type, child));
    return child;
  }
  if (auto refused = refusal(*this, "call to_here() on it", type, site)) return refused;
  auto fetched = keeper_->calls()->sender().call_or_fail(request(kFetch, "RRef.to_here", timeout, site), type);
  keep_until(*fetched, shared_from_this());
  return fetched;
}

Value Handle::local_value(base::Location site) const {
  if (is_owner()) {
    Value value = value_->future.wait({}, site);
    begin_work(value_);
    return value;
  }
  throw Error(ErrorKind::Failed, "RuntimeError",
              "For UserRRef(rref_id=" + to_string(rref_) + ", fork_id=" + to_string(fork_) +
                  "), can't call localValue() on user " + rpc::to_string(keeper_->self()) + ". Call it on owner " +
                  rpc::to_string(owner_),
              site);
}

future::Future<Value> Handle::creation() const {
  {
    const std::lock_guard lock(mutex_);
    if (creation_) return *creation_;
  }
  if (is_owner()) return value_->future;
  future::Future<Value> there;
  there.set_result(Value());
  return there;
}

future::Future<std::string> Handle::type(Timeout timeout, base::Location site) const {
  if (auto refused = refusal(*this, "ask for the type of it", rpc::kResultOf<std::string>, site)) {
    return future::Future<std::string>::of(std::move(refused));
  }
  const std::lock_guard lock(asking_);
  if (type_ && !type_->failed()) return *type_;
  if (is_owner()) {
    type_ = value_->future.then([](const future::Future<Value>& done) { return type_name_of(done.wait()); }, site);
  } else {
    type_ = future::Future<std::string>::of(keeper_->calls()->sender().call_or_fail(
        request(kTypeOf, "RRef.type", timeout, site), rpc::kResultOf<std::string>));
    keep_until(*type_->state(), shared_from_this());
  }
  return *type_;
}

}  // namespace distrun::rref
