#pragma once
// For a scope: the futures of all rpc_async that the thread calls are waited for at its end.
//
//   WaitAllScope all;
//   rpc_async(...);
//   all.end();     // waits; throws the first error
#include <memory>
#include <vector>

#include <distrun/runtime/future/future.hpp>

namespace distrun::rpc {

class WaitAllScope {
 public:
  // Throws Error{Failed} where the thread has one.
  explicit WaitAllScope(base::Location site = base::Location::here());
  // Without end() it waits, too; errors are told in the rank's report then.
  ~WaitAllScope();
  WaitAllScope(const WaitAllScope&) = delete;
  WaitAllScope& operator=(const WaitAllScope&) = delete;

  // Once. The scope is over for the thread, whatever comes of it.
  void end(base::Location site = base::Location::here());

  // Of the calling thread; null outside of a scope.
  static const std::vector<future::AnyFuture>* futures() noexcept;
  // A call was made: kept if the thread has a scope.
  static void add(const std::shared_ptr<future::FutureState>& state);

 private:
  base::Location site_;
  std::vector<future::AnyFuture> futures_;
  bool is_over_ = false;
};

}  // namespace distrun::rpc
