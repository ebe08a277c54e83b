#pragma once
// Calls methods of a reference's value at its owner. The type of the value is fetched first, once for each reference,
// so that an unknown method is rejected here. The timeout applies to each of both calls.
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

// All throw what rpc_sync throws, and Error{InvalidArgument, "AttributeError"} for an unknown method.
Value invoke(Invocation invocation);
// Errors are stored in the future.
std::shared_ptr<future::FutureState> invoke_async(Invocation invocation, const rpc::ResultType& type);
// Fetches the type before it returns.
HandlePtr invoke_remote(Invocation invocation);

}  // namespace distrun::rref
