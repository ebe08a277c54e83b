#pragma once
// References to values on other workers:
//
//   RRef<Tensor> sum = remote("worker1", add, a, b);     // the result stays on worker1
//   sum.to_here();                                        // fetches a copy
//   rpc_sync("worker2", use, sum);                        // shares it: worker2 fetches it from worker1
//
//   RRef<Model> model = remote<Model>("worker1", "Model", 128);       // created on worker1
//   model.rpc_sync(&Model::forward, x);                               // called there, checked at compile time
//   model.rpc_async().call<Tensor>("forward", x);                     // by name
//
//   RRef<Table> table(std::make_shared<Table>());         // a value of this worker, for others
//
// A value lives while a reference to it exists on any worker: copies, arguments, results, containers and objects.
// Cycles of references live until the session ends. A shutdown deletes all remaining references, and fails if other
// workers still hold values that this worker owns.
#include <concepts>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/functions/register_class.hpp>
#include <distrun/runtime/rref/handle.hpp>
#include <distrun/runtime/rref/proxy.hpp>

namespace distrun::rref {

namespace detail {

// True for a registered class: passed as a pointer, so that the owner gets the object itself.
template <class T>
inline constexpr bool kIsObject =
    std::is_class_v<T> && !std::is_same_v<T, Value> && !rpc::detail::Held<T> && !rpc::detail::Text<T> &&
    !rpc::detail::kIsVector<T> && !rpc::detail::kIsArray<T> && !rpc::detail::kIsMap<T> && !rpc::detail::kIsTuple<T> &&
    !rpc::detail::kIsOptional<T> && !rpc::detail::kIsShared<T> && !rpc::detail::HasFields<T> &&
    !rpc::detail::Refers<T> && !std::is_base_of_v<future::AnyFuture, T>;

template <class T>
struct GotOf {
  using Type = T;
};
template <class T>
requires kIsObject<T>
struct GotOf<T> {
  using Type = std::shared_ptr<T>;
};
template <>
struct GotOf<void> {
  using Type = void;
};

// The type that a reference to a function's result refers to.
template <class T>
struct ReferredOf {
  using Type = T;
};
template <class T>
struct ReferredOf<std::shared_ptr<T>> {
  using Type = T;
};

const HandlePtr& require(const HandlePtr& handle, base::Location site);

}  // namespace detail

// A reference, or empty; copies share the reference. Thread-safe. All `timeout`s are in seconds, 0: no limit.
template <class T>
class RRef {
  template <class Other>
  static constexpr bool kIsNoMethod =
      !std::is_member_function_pointer_v<std::decay_t<Other>> && !std::is_convertible_v<Other&&, Timeout>;

 public:
  // T, or for a registered class std::shared_ptr<T>: on the owner the object itself, elsewhere a copy. T may be
  // incomplete until this is used, so that a class can hold references to objects of its own type.
  template <class U = T>
  using Got = typename detail::GotOf<U>::Type;

  RRef() noexcept = default;
  // Creates a value of this worker. Throws Error{Failed} without RPC.
  template <class Passed, class U = T>
  requires(!std::is_void_v<U> && !std::is_same_v<std::remove_cvref_t<Passed>, RRef> &&
           std::is_constructible_v<Got<U>, Passed&&>) explicit RRef(Passed&& value,
                                                                    base::Location site = base::Location::here())
      : handle_(refer_to_value(rpc::to_value(Got<U>(std::forward<Passed>(value))), site)) {}
  // A template, so that it does not take part in conversions of an object to a record of references to such objects.
  template <class Passed, class U = T>
  requires(std::is_same_v<std::remove_cvref_t<Passed>, U>&& detail::kIsObject<U>) explicit RRef(
      Passed&& value, base::Location site = base::Location::here())
      : handle_(refer_to_value(rpc::to_value(std::make_shared<U>(std::forward<Passed>(value))), site)) {}

  // Waits for the value and returns it, from its owner if necessary. Throws the error of the function that creates it,
  // Error{Timeout}, Error{Disconnected} if the owner is gone, Error{Failed} if the creating call has timed out ("RRef
  // creation via rpc.remote() timed out ...") or the session has ended ("... has been deleted. ...").
  template <class U = T>
  Got<U> to_here(Timeout timeout = {}, base::Location site = base::Location::here()) const {
    return rpc::from_value<Got<U>>(handle(site)->to_here(timeout, site));
  }
  // Is to_here() without waiting; the future has the value or the error.
  template <class U = T>
  future::Future<Got<U>> to_here_async(Timeout timeout = {}, base::Location site = base::Location::here()) const {
    return future::Future<Got<U>>::of(handle(site)->to_here_async(timeout, rpc::kResultOf<Got<U>>, site));
  }
  // Returns the value on its owner. Throws Error{Failed} on other workers: "... can't call localValue() on user ...".
  template <class U = T>
  Got<U> local_value(base::Location site = base::Location::here()) const {
    return rpc::from_value<Got<U>>(handle(site)->local_value(site));
  }

  // Returns whether it is a reference. Functions that need one throw Error{InvalidArgument} if not.
  explicit operator bool() const noexcept { return handle_ != nullptr; }
  // the value is on this worker
  bool is_owner(base::Location site = base::Location::here()) const { return handle(site)->is_owner(); }
  // where the value is
  const WorkerInfo& owner(base::Location site = base::Location::here()) const { return handle(site)->owner(); }
  // "worker1"
  const std::string& owner_name(base::Location site = base::Location::here()) const { return owner(site).name(); }
  // Returns whether the owner knows this reference.
  bool confirmed_by_owner(base::Location site = base::Location::here()) const { return handle(site)->is_confirmed(); }

  // Completes when the value exists or its function has failed; fails if the owner has not reported either.
  future::Future<Value> creation(base::Location site = base::Location::here()) const {
    return handle(site)->creation();
  }
  // Returns creation(), which is all that is recorded.
  future::Future<Value> profiling(base::Location site = base::Location::here()) const { return creation(site); }
  // Waits for the value, and returns the name of its type: "Tensor", "MyClass". Fetched once.
  std::string type(Timeout timeout = {}, base::Location site = base::Location::here()) const {
    return handle(site)->type(timeout, site).wait({}, site);
  }
  // Is type() without waiting.
  future::Future<std::string> type_async(Timeout timeout = {}, base::Location site = base::Location::here()) const {
    return handle(site)->type(timeout, site);
  }

  // Returns a proxy that calls methods by name and waits: ref.rpc_sync().call("method", 1).
  SyncProxy rpc_sync(Timeout timeout = {}, base::Location site = base::Location::here()) const {
    return {handle(site), timeout, site};
  }
  // Returns a proxy that calls methods by name without waiting.
  AsyncProxy rpc_async(Timeout timeout = {}, base::Location site = base::Location::here()) const {
    return {handle(site), timeout, site};
  }
  // Returns a proxy that calls methods by name and leaves their results at the owner.
  RemoteProxy remote(Timeout timeout = {}, base::Location site = base::Location::here()) const {
    return {handle(site), timeout, site};
  }
  // Calls a registered method, checked at compile time, and waits for its result.
  template <class Method, class... Passed>
  requires std::is_member_function_pointer_v<Method>
  auto rpc_sync(Method method, Passed&&... passed) const {
    return rpc::from_value<ReturnOf<Method>>(invoke(invocation(method, std::forward<Passed>(passed)...)));
  }
  // Calls a registered method, checked at compile time, without waiting.
  template <class Method, class... Passed>
  requires std::is_member_function_pointer_v<Method>
  auto rpc_async(Method method, Passed&&... passed) const {
    using Returned = ReturnOf<Method>;
    return future::Future<Returned>::of(
        invoke_async(invocation(method, std::forward<Passed>(passed)...), rpc::kResultOf<Returned>));
  }
  // Calls a registered method, checked at compile time; its result stays at the owner.
  template <class Method, class... Passed>
  requires std::is_member_function_pointer_v<Method>
  auto remote(Method method, Passed&&... passed) const {
    using Returned = typename detail::ReferredOf<ReturnOf<Method>>::Type;
    return RRef<Returned>::of(invoke_remote(invocation(method, std::forward<Passed>(passed)...)));
  }
  // These are for everything else, and fail to compile: compile_checks.hpp explains why.
  template <class Other, class... Passed>
  requires kIsNoMethod<Other>
  auto rpc_sync(Other&&, Passed&&...) const { return rpc::detail::refuse_method<Other>(); }
  template <class Other, class... Passed>
  requires kIsNoMethod<Other>
  auto rpc_async(Other&&, Passed&&...) const { return rpc::detail::refuse_method<Other>(); }
  template <class Other, class... Passed>
  requires kIsNoMethod<Other>
  auto remote(Other&&, Passed&&...) const { return rpc::detail::refuse_method<Other>(); }

  std::string text() const { return handle_ == nullptr ? "RRef()" : handle_->text(); }  // "RRef()" if empty
  // Returns whether both refer to the same value.
  friend bool operator==(const RRef& left, const RRef& right) noexcept {
    if (left.handle_ == nullptr || right.handle_ == nullptr) return left.handle_ == right.handle_;
    return left.handle_->rref() == right.handle_->rref();
  }

  // Returns the same reference, typed as U; the caller knows that the value is a U.
  template <class U>
  RRef<U> as() const {
    return RRef<U>::of(handle_);
  }
  rpc::ReferencePtr reference() const noexcept { return handle_; }  // for values; null if empty
  // Returns a reference of values as an RRef; the caller knows that its value is a T.
  static RRef of(const rpc::ReferencePtr& reference) {
    RRef made;
    made.handle_ = std::const_pointer_cast<Handle>(std::dynamic_pointer_cast<const Handle>(reference));
    return made;
  }

 private:
  template <class Method>
  struct Taken;
  template <class Returned, class Class, class... Parameters>
  struct Taken<Returned (Class::*)(Parameters...)> {
    using Result = typename rpc::detail::Gets<Returned>::Type;
    template <class... Passed>
    static consteval bool check() {
      static_assert(std::is_base_of_v<Class, T>, "RPC: the method belongs to another class than the reference");
      if constexpr (!std::is_base_of_v<Class, T>) return false;
      return rpc::detail::check_call(rpc::detail::Types<Parameters...>(), rpc::detail::Types<Passed...>());
    }
    template <class... Passed>
    static Invocation invocation(const HandlePtr& handle, const std::string& name, base::Location site,
                                 Passed&&... passed) {
      return detail::invocation_of(handle, name, {}, site,
                                   static_cast<std::remove_cvref_t<Parameters>>(std::forward<Passed>(passed))...);
    }
  };
  template <class Returned, class Class, class... Parameters>
  struct Taken<Returned (Class::*)(Parameters...) const> : Taken<Returned (Class::*)(Parameters...)> {};
  template <class Method>
  using ReturnOf = typename Taken<Method>::Result;

  template <class Method, class... Passed>
  Invocation invocation(Method method, Passed&&... passed) const {
    if constexpr (Taken<Method>::template check<Passed&&...>()) {
      const base::Location site;
      return Taken<Method>::invocation(handle(site), rpc::name_of_method(rpc::method_key(method)), site,
                                       std::forward<Passed>(passed)...);
    } else {
      return rpc::detail::refused<Invocation>();
    }
  }
  const HandlePtr& handle(base::Location site) const { return detail::require(handle_, site); }

  HandlePtr handle_;
};

// Like rpc_async, but the result stays on the callee, and the returned reference refers to it. Takes a name or any
// other callable: remote<Tensor>(to, "add", a, b); remote<MyClass>(to, "MyClass", 7) creates an object. Errors of the
// function become the value's. Errors that rpc_async stores in its future are thrown by creation().wait().
template <class T = Value, rpc::detail::IsTarget Callable, class... Passed>
RRef<T> remote(const rpc::Destination& to, Callable&& callable, Passed&&... passed) {
  return RRef<T>::of(refer_to_result(
      rpc::detail::make_request(to, std::forward<Callable>(callable), std::forward<Passed>(passed)...)));
}
// Calls a C++ function.
template <class Returned, class... Parameters, class... Passed>
auto remote(const rpc::Destination& to, Returned (*function)(Parameters...), Passed&&... passed) {
  using Result = typename detail::ReferredOf<typename rpc::detail::Gets<Returned>::Type>::Type;
  if constexpr (rpc::detail::check_call(rpc::detail::Types<Parameters...>(), rpc::detail::Types<Passed&&...>())) {
    return remote<Result>(to, rpc::name_of_function(reinterpret_cast<const void*>(function)),
                          static_cast<std::remove_cvref_t<Parameters>>(std::forward<Passed>(passed))...);
  } else {
    return rpc::detail::refused<RRef<Result>>();
  }
}
// Everything else fails to compile: compile_checks.hpp explains why.
template <class T = Value, rpc::detail::IsNoCallable Callable, class... Passed>
auto remote(const rpc::Destination&, Callable&&, Passed&&...) {
  rpc::detail::check_callable<Callable>();
  return rpc::detail::refused<RRef<T>>();
}

// Waits up to `within` seconds until no other worker holds a value of this one, then returns ""; otherwise a line for
// each remaining reference, and reference cycles with their paths, for which it asks the other workers. For tests.
std::string leaks(double within, base::Location site = base::Location::here());

// Returns the counters "num_owner_rrefs", "num_pending_futures", "num_pending_users", "num_forks".
std::map<std::string, std::string> debug_info();

}  // namespace distrun::rref

namespace distrun {
using rref::RRef;
}  // namespace distrun
