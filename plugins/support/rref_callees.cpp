#include "rref_callees.hpp"

#include <chrono>
#include <thread>

#include <distrun/rpc.hpp>
#include <distrun/tensors.hpp>

#include "rpc_callees.hpp"

namespace distrun::suites {

rpc::Value add_rref_to_value(RRef<rpc::Value> rref, rpc::Value value) { return plus(rref.to_here(), value); }
DISTRUN_RPC(add_rref_to_value, "rref", "value")

Tensor my_rref_function(RRef<Tensor> rref_a, RRef<Tensor> rref_b) { return rref_a.to_here() + rref_b.to_here(); }
DISTRUN_RPC(my_rref_function, "rref_a", "rref_b")

Tensor slow_add_number(Tensor x, std::int64_t y) {
  std::this_thread::sleep_for(std::chrono::seconds(1));
  return x + y;
}
DISTRUN_RPC(slow_add_number, "x", "y")

Tensor nested_remote(std::string dst) { return remote<Tensor>(dst, "add", ones({2, 2}), 3).to_here(); }
DISTRUN_RPC(nested_remote, "dst")

std::tuple<RRef<Tensor>, RRef<Tensor>> nested_rref(std::string dst) {
  return {remote<Tensor>(dst, "add", ones({2, 2}), 1), remote<Tensor>(dst, "add", ones({2, 2}), 2)};
}
DISTRUN_RPC(nested_rref, "dst")

RRef<Tensor> rpc_return_rref(std::string dst) { return remote<Tensor>(dst, "add", ones({2, 2}), 1); }
DISTRUN_RPC(rpc_return_rref, "dst")

Tensor nested_remote_sparse(std::string dst) {
  return remote<Tensor>(dst, "add", build_sparse_tensor(), build_sparse_tensor()).to_here();
}
DISTRUN_RPC(nested_remote_sparse, "dst")

std::tuple<RRef<Tensor>, RRef<Tensor>> nested_rref_sparse(std::string dst) {
  return {remote<Tensor>(dst, "add", build_sparse_tensor(), build_sparse_tensor()),
          remote<Tensor>(dst, "add", build_sparse_tensor(), build_sparse_tensor())};
}
DISTRUN_RPC(nested_rref_sparse, "dst")

rpc::Value rref_forward_chain(std::int64_t dst, std::int64_t world_size, RRef<Tensor> rref, std::int64_t ttl) {
  if (ttl == 0) return rpc::to_value(rref.to_here());
  const std::string whom = "worker" + std::to_string(dst);
  return rpc::to_value(
      std::vector{remote(whom, rref_forward_chain, (dst + 1) % world_size, world_size, rref, ttl - 1)});
}
DISTRUN_RPC(rref_forward_chain, "dst", "world_size", "rref", "ttl")

std::vector<RRef<MyClass>> get_rref_list(std::vector<std::int64_t> values) {
  std::vector<RRef<MyClass>> list;
  for (const std::int64_t each : values) list.emplace_back(MyClass(each));
  return list;
}
DISTRUN_RPC(get_rref_list, "values")

rpc::Value call_method_on_rref(rpc::FunctionName method, RRef<MyClass> rref, std::optional<std::int64_t> argument) {
  rpc::ValueList arguments{rpc::to_value(rref.local_value())};
  if (argument) arguments.push_back(rpc::to_value(*argument));
  return std::get<rpc::Value>(rpc::get_function(method.name)->run(arguments));
}
DISTRUN_RPC(call_method_on_rref, "method", "rref", "argument")

}  // namespace distrun::suites
