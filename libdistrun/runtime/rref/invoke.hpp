#pragma once
// Calls of methods of a reference's value, where that is. The type of the value is asked for first, once for each
// reference, so that a method that it does not have is refused here; the timeout counts for both.
#include <string>

#include <distrun/runtime/rref/handle.hpp>

namespace distrun::rref {

struct Invocation {
  HandlePtr handle;
  std::string method;
  rpc::Arguments arguments;
  Timeout timeout;
  base::Location site;
};

// Throw as rpc_sync; Error{InvalidArgument, "AttributeError"} for an unknown method.
Value invoke(Invocation invocation);
// What is wrong becomes the future's error.
std::shared_ptr<future::FutureState> invoke_async(Invocation invocation, const rpc::ResultType& type);
// Asks for the type before it returns.
HandlePtr invoke_remote(Invocation invocation);

}  // namespace distrun::rref
