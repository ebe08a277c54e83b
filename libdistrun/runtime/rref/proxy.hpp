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

class Proxy {
 public:
  Proxy(HandlePtr handle, Timeout timeout, base::Location site)
      : handle_(std::move(handle)), timeout_(timeout), site_(site) {}

 protected:
  template <class... Passed>
  Invocation invocation(const std::string& method, Passed&&... passed) const {
    return detail::invocation_of(handle_, method, timeout_, site_, std::forward<Passed>(passed)...);
  }

 private:
  HandlePtr handle_;
  Timeout timeout_;
  base::Location site_;
};

class SyncProxy : public Proxy {
 public:
  using Proxy::Proxy;
  template <class T = Value, class... Passed>
  T call(const std::string& method, Passed&&... passed) const {
    return rpc::from_value<T>(invoke(invocation(method, std::forward<Passed>(passed)...)));
  }
};

class AsyncProxy : public Proxy {
 public:
  using Proxy::Proxy;
  template <class T = Value, class... Passed>
  future::Future<T> call(const std::string& method, Passed&&... passed) const {
    return future::Future<T>::of(invoke_async(invocation(method, std::forward<Passed>(passed)...), rpc::kResultOf<T>));
  }
};

class RemoteProxy : public Proxy {
 public:
  using Proxy::Proxy;
  template <class T = Value, class... Passed>
  RRef<T> call(const std::string& method, Passed&&... passed) const {
    return RRef<T>::of(invoke_remote(invocation(method, std::forward<Passed>(passed)...)));
  }
};

}  // namespace distrun::rref
