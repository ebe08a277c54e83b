#pragma once
// A named piece of work that may outlast its scope, until a future is done:
//
//   const profiler::RecordFunction forward("forward");
//   return forward.call_end_callbacks_on_future(rpc_async("worker1", step, batch));
//
// The functions on a handle do the same without a scope.
#include <atomic>
#include <memory>
#include <string_view>

#include <distrun/runtime/future/future.hpp>
#include <distrun/runtime/profiler/span.hpp>

namespace distrun::profiler {

// An event that ends with its scope, or with a future. Thread-safe; create it on the thread that does the work.
class RecordFunction {
 public:
  // `arguments` describe it further, in a note of the event.
  explicit RecordFunction(std::string_view name, std::string_view arguments = {});
  ~RecordFunction() { end(); }
  RecordFunction(const RecordFunction&) = delete;
  RecordFunction& operator=(const RecordFunction&) = delete;

  // Makes the event end when the future is done, with or without an error, and not with the scope. The returned future
  // has the same value or error, once the event has ended. Throws Error{Failed} the second time: "... can only be
  // called once."
  template <class T>
  future::Future<T> call_end_callbacks_on_future(const future::Future<T>& future) const {
    claim();
    return future.then([scope = scope_](const future::Future<T>& done) {
      scope->span.end();
      return done.wait();
    });
  }

  // Ends it now, unless it lasts until a future is done. Idempotent.
  void end() const noexcept;

 private:
  struct Scope {
    explicit Scope(std::string_view name) : span(name) {}
    Span span;
    std::atomic<bool> is_claimed{false};  // by a future
  };

  void claim() const;

  std::shared_ptr<Scope> scope_;
};

using RecordHandle = std::shared_ptr<const RecordFunction>;  // without a scope

// Begins an event without a scope; it ends with record_function_exit(), a future, or its last handle.
inline RecordHandle record_function_enter(std::string_view name, std::string_view arguments = {}) {
  return std::make_shared<const RecordFunction>(name, arguments);
}
// Makes the event end with the future: see RecordFunction.
template <class T>
future::Future<T> call_end_callbacks_on_future(const RecordHandle& handle, const future::Future<T>& future) {
  return handle->call_end_callbacks_on_future(future);
}
// Ends the event, unless it lasts until a future is done. Idempotent.
inline void record_function_exit(const RecordHandle& handle) noexcept { handle->end(); }

}  // namespace distrun::profiler
