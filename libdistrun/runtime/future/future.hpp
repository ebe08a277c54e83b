#pragma once
// A value that another thread or rank will provide later. Handles are cheap to copy and share one state
// (future_state.hpp). Thread-safe.
//
//   Future<int> answer;
//   Future<int> next = answer.then([](Future<int> done) { return done.wait() + 1; });
//   answer.set_result(41);
//   next.wait();  // 42
//
// A wait is recorded on the rank's board, with the ranks that the future depends on, and ends when one of them fails. A
// value on GPUs needs no waiting host: the future knows the streams that compute it, and orders the current streams of
// a waiting thread after them.
#include <optional>
#include <variant>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/future/future_state.hpp>

namespace distrun::future {

// A future of any type.
class AnyFuture {
 public:
  explicit AnyFuture(std::shared_ptr<FutureState> state) : state_(std::move(state)) {}  // must not be null

  bool done() const noexcept { return state_->is_done(); }  // with a value or an error
  // Returns whether it is done with an error, without reading the value.
  bool failed() const { return done() && state_->error() != nullptr; }
  // Blocks until it is done. Throws the future's error, the same each time; Error{Timeout} after `timeout`;
  // base::PeerFailed if a rank fails meanwhile.
  void wait_done(std::optional<base::Nanoseconds> timeout = {}, base::Location site = base::Location::here()) const;

  const std::shared_ptr<FutureState>& state() const noexcept { return state_; }  // shared by all handles

 private:
  std::shared_ptr<FutureState> state_;
};

// The stored form of a value.
template <class T>
using Stored = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

// The state of a future with a value of that type.
template <class T>
class TypedState final : public FutureState {
 public:
  using FutureState::FutureState;

  // Requires that the caller has begun to complete it.
  void store(Stored<T>&& made) noexcept {
    try {
      value.emplace(std::move(made));
    } catch (...) {
      return end(std::current_exception());
    }
    end_with_value();
  }

  std::optional<Stored<T>> value;  // set once it is done without an error

 private:
  void visit_value(const TensorVisitor& visit) const override { visit_tensors(*value, visit); }
};

template <class T>
class Future;

// Throws Error{InvalidArgument} unless it is done.
void require_done(const AnyFuture& future);
// Describes a future derived from another: waits for it have the same name, ranks and Progress.
FutureInfo info_of_child(const FutureState& parent, base::Location site);
// Throws Error{InvalidArgument, "TypeError"}.
[[noreturn]] void refuse_empty_callback(base::Location site);

// Calls refuse_empty_callback() for an empty function or a null pointer.
template <class Callback>
void refuse_if_empty(const Callback& callback, base::Location site) {
  if constexpr (std::is_pointer_v<Callback> || requires { callback.operator bool(); }) {
    if (!callback) refuse_empty_callback(site);
  }
}

// The continuation of then().
template <class T, class Callback>
class Then final : public Continuation {
 public:
  using Result = std::invoke_result_t<Callback&, Future<T>>;  // of the callback

  // `child` gets the callback's result or its exception.
  Then(Callback callback, Future<Result> child) : callback_(std::move(callback)), child_(std::move(child)) {}

  // These do what Continuation says.
  void run(const std::shared_ptr<FutureState>& done) noexcept override {
    const auto parent = Future<T>::of(done);
    auto& child = static_cast<TypedState<Result>&>(*child_.state());
    std::optional<Stored<Result>> made;
    try {
      if constexpr (std::is_void_v<Result>) {
        callback_(parent);
        made.emplace();
      } else {
        made.emplace(callback_(parent));
      }
    } catch (...) {
      return fail(std::current_exception());
    }
    if (child.try_begin()) child.store(std::move(*made));  // otherwise the child was completed by other code
  }
  // Fails the child with `why`.
  void abandon(FutureState&, const std::exception_ptr& why) noexcept override { fail(why); }

 private:
  void fail(const std::exception_ptr& error) noexcept {
    FutureState& child = *child_.state();
    if (child.try_begin()) return child.end(error);
    child.tell_lost("the error of its callback, which followed", error);
  }

  Callback callback_;
  Future<Result> child_;
};

// The continuation of add_done_callback().
template <class T, class Callback>
class DoneCallback final : public Continuation {
 public:
  explicit DoneCallback(Callback callback) : callback_(std::move(callback)) {}  // is called once

  // Calls the callback, and reports its exception.
  void run(const std::shared_ptr<FutureState>& done) noexcept override {
    try {
      callback_(Future<T>::of(done));
    } catch (...) {
      done->tell_lost("a callback threw an exception", std::current_exception());
    }
  }
  // Reports that it was not called.
  void abandon(FutureState& parent, const std::exception_ptr& why) noexcept override {
    parent.tell_lost("a callback was not run", why);
  }

 private:
  Callback callback_;
};

// `T` may be void. Copies of a future share its state.
template <class T>
class Future : public AnyFuture {
 public:
  using Value = T;  // may be void

  // Creates a future that the program completes by hand. `devices` are the GPUs that its value may be on: continuations
  // run with new streams of all of them.
  explicit Future(const std::vector<FutureDevice>& devices = {}, base::Location site = base::Location::here())
      : AnyFuture(std::make_shared<TypedState<T>>(hand_made({devices.begin(), devices.end()}, site))) {}
  // Creates a future that is waited for as `info` says.
  static Future of(FutureInfo info) { return Future(Made(), std::make_shared<TypedState<T>>(std::move(info))); }
  // `state` must be a TypedState<T>.
  static Future of(std::shared_ptr<FutureState> state) { return Future(Made(), std::move(state)); }

  // Waits like wait_done() and returns the value. The calling thread's current streams are ordered after it.
  T wait(std::optional<base::Nanoseconds> timeout = {}, base::Location site = base::Location::here()) const {
    wait_done(timeout, site);
    state()->follow();
    if constexpr (!std::is_void_v<T>) return *typed().value;
  }
  // Returns the value of a future that is done, without ordering streams; valid as long as a handle. Throws its error,
  // or Error{InvalidArgument} if it is not done.
  const Stored<T>& value() const {
    require_done(*this);
    state()->throw_if_failed();
    return *typed().value;
  }

  // Completes the future. Throws Error{Failed} if it is done already. A value on GPUs other than the future's fails it.
  void set_result(Stored<T> value, base::Location site = base::Location::here()) const {
    state()->begin(site);
    typed().store(std::move(value));
  }
  void set_result(base::Location site = base::Location::here()) const requires std::is_void_v<T> {
    set_result(std::monostate(), site);
  }
  // Completes the future with an error, which is not null. Throws Error{Failed} if it is done already.
  void set_error(std::exception_ptr error, base::Location site = base::Location::here()) const {
    state()->begin(site);
    state()->end(std::move(error));
  }
  void set_error(const Error& error, base::Location site = base::Location::here()) const {
    set_error(std::make_exception_ptr(error), site);
  }

  // Returns a future of the result or exception of `callback`, which gets this one when it is done; with the same
  // devices. Where and when it runs: future_state.hpp. Throws Error{InvalidArgument, "TypeError"} for an empty
  // function.
  template <class Callback>
  auto then(Callback callback, base::Location site = base::Location::here()) const {
    refuse_if_empty(callback, site);
    const auto child = Future<std::invoke_result_t<Callback&, Future>>::of(info_of_child(*state(), site));
    state()->attach(std::make_unique<Then<T, Callback>>(std::move(callback), child));
    return child;
  }
  // Calls `callback` when it is done, and ignores the result. Exceptions are reported in the rank's report.
  template <class Callback>
  void add_done_callback(Callback callback, base::Location site = base::Location::here()) const {
    refuse_if_empty(callback, site);
    state()->attach(std::make_unique<DoneCallback<T, Callback>>(std::move(callback)));
  }

 private:
  struct Made {};
  Future(Made, std::shared_ptr<FutureState> state) : AnyFuture(std::move(state)) {}

  TypedState<T>& typed() const noexcept { return static_cast<TypedState<T>&>(*state()); }

  static FutureInfo hand_made(std::vector<device::Device> devices, base::Location site) {
    FutureInfo info(site);
    info.devices = std::move(devices);
    return info;
  }
};

}  // namespace distrun::future

namespace distrun {
using future::Future;
}  // namespace distrun
