#pragma once
// Waits, at the end of a scope, for the futures of all rpc_async calls that the thread makes in it.
//
//   WaitAllScope all;
//   rpc_async(...);
//   all.end();     // waits; throws the first error
#include <memory>
#include <vector>

#include <distrun/runtime/future/future.hpp>

namespace distrun::rpc {

// Collects the futures of a thread's calls. Create, end and destroy it on one thread.
class WaitAllScope {
 public:
  // Throws Error{Failed} if the thread already has a scope.
  explicit WaitAllScope(base::Location site = base::Location::here());
  // Waits unless end() was called; errors are shown in the rank's report then.
  ~WaitAllScope();
  WaitAllScope(const WaitAllScope&) = delete;
  WaitAllScope& operator=(const WaitAllScope&) = delete;

  // Call it once. Ends the thread's scope, even if it throws.
  void end(base::Location site = base::Location::here());

  // Returns those of the calling thread; null outside of a scope.
  static const std::vector<future::AnyFuture>* futures() noexcept;
  // Called for each new call; keeps it if the thread has a scope.
  static void add(const std::shared_ptr<future::FutureState>& state);

 private:
  base::Location site_;
  std::vector<future::AnyFuture> futures_;
  bool is_over_ = false;
};

}  // namespace distrun::rpc
