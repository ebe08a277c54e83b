// Callees that use futures, or misuse them.
#include <distrun/rpc.hpp>
#include <distrun/tensors.hpp>

#include "rpc_callees.hpp"

namespace distrun::suites {
namespace {

constexpr std::chrono::minutes kFutureWaitMax{5};

rpc::Result nothing(const rpc::ValueList&) { return rpc::Value(); }
rpc::Result no_future(const rpc::ValueList&) { return rpc::to_value(zeros({2, 2})); }

bool add_dynamic(const char* name, std::vector<rpc::Parameter> parameters, rpc::Execution execution,
                 rpc::Result (*run)(const rpc::ValueList&)) {
  return rpc::register_dynamic({{name, std::move(parameters)}, execution, run});
}

[[maybe_unused]] const bool kDynamic =
    add_dynamic("fail_on_fut", {{"fut", "Future"}}, rpc::Execution::Plain, nothing) &&
    add_dynamic("async_wrong_type", {}, rpc::Execution::Async, no_future);

}  // namespace

Tensor add_use_future_cb(std::string to, Tensor x, std::int64_t y, std::int64_t z) {
  const Future<Tensor> out;  // a promise that no agent knows
  const auto first = rpc_async<Tensor>(to, "add", x, y);
  const auto added = first.then([out, z](const Future<Tensor>& done) { out.set_result(done.wait() + z); });
  return out.wait(kFutureWaitMax);
}
DISTRUN_RPC(add_use_future_cb, "to", "x", "y", "z")

Tensor add_use_future_set_result(std::string to, Tensor x, std::int64_t y, std::int64_t z) {
  const Future<Tensor> out;
  rpc_async<Tensor>(to, "add", x, y).add_done_callback([out, z](const Future<Tensor>& done) {
    out.set_result(done.wait() + z);
  });
  return out.wait(kFutureWaitMax);
}
DISTRUN_RPC(add_use_future_set_result, "to", "x", "y", "z")

Tensor add_use_future_nested_cb(std::string to, Tensor x, std::int64_t y, std::int64_t z) {
  const Future<Tensor> out;
  rpc_async<Tensor>(to, "add", x, y).add_done_callback([out, to, z](const Future<Tensor>& first) {
    rpc_async<Tensor>(to, "add", first.wait(), z).add_done_callback([out](const Future<Tensor>& second) {
      out.set_result(second.wait());
    });
  });
  return out.wait(kFutureWaitMax);
}
DISTRUN_RPC(add_use_future_nested_cb, "to", "x", "y", "z")

Future<std::int64_t> return_future() { return Future<std::int64_t>(); }
DISTRUN_RPC(return_future)

}  // namespace distrun::suites
