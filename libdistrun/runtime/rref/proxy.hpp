#pragma once
// Call methods of a reference's value by name: ref.rpc_sync().call("my_method", 1), in three ways. A proxy may be used
// repeatedly; `timeout`, in seconds, applies to each call.
#include <string>
#include <utility>

#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rref/invoke.hpp>

namespace distrun::rref {

template <class T>
class RRef;  // rref.hpp

namespace detail {

template <class... Passed>
Invocation invocation_of(const HandlePtr& handle, const std::string& method, Timeout timeout, base::Location site,
                         Passed&&... passed) {
  Invocation invocation{handle, method, {}, timeout, site};
  (rpc::detail::add_argument(invocation.arguments, std::forward<Passed>(passed)), ...);
  return invocation;
}

}  // namespace detail

// Base of the three proxies: a reference with a timeout. As thread-safe as the reference.
class Proxy {
 public:
  // Created by RRef.
  Proxy(HandlePtr handle, Timeout timeout, base::Location site)
      : handle_(std::move(handle)), timeout_(timeout), site_(site) {}

 protected:
  // Returns the call of a method with these arguments.
  template <class... Passed>
  Invocation invocation(const std::string& method, Passed&&... passed) const {
    return detail::invocation_of(handle_, method, timeout_, site_, std::forward<Passed>(passed)...);
  }

 private:
  HandlePtr handle_;
  Timeout timeout_;
  base::Location site_;
};

// Calls methods and waits: RRef::rpc_sync().
class SyncProxy : public Proxy {
 public:
  // Created by RRef.
  using Proxy::Proxy;
  // Calls the method, waits, and returns its result as a T. Throws what the method throws, and what rpc::rpc_sync()
  // throws.
  template <class T = Value, class... Passed>
  T call(const std::string& method, Passed&&... passed) const {
    return rpc::from_value<T>(invoke(invocation(method, std::forward<Passed>(passed)...)));
  }
};

// Calls methods without waiting: RRef::rpc_async().
class AsyncProxy : public Proxy {
 public:
  // Created by RRef.
  using Proxy::Proxy;
  // Calls the method; the future has its result or the error.
  template <class T = Value, class... Passed>
  future::Future<T> call(const std::string& method, Passed&&... passed) const {
    return future::Future<T>::of(invoke_async(invocation(method, std::forward<Passed>(passed)...), rpc::kResultOf<T>));
  }
};

// Calls methods whose results stay at the owner: RRef::remote().
class RemoteProxy : public Proxy {
 public:
  // Created by RRef.
  using Proxy::Proxy;
  // Calls the method; the reference is to its result, at the owner of this one.
  template <class T = Value, class... Passed>
  RRef<T> call(const std::string& method, Passed&&... passed) const {
    return RRef<T>::of(invoke_remote(invocation(method, std::forward<Passed>(passed)...)));
  }
};

}  // namespace distrun::rref
