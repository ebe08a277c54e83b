#include "rpc_callees.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <thread>

#include <distrun/rpc.hpp>
#include <distrun/runtime/rpc/functions/operators.hpp>
#include <distrun/tensors.hpp>

#include "rpc_state.hpp"

namespace distrun::suites {
namespace {

constexpr int kHeavyRounds = 100;
constexpr std::chrono::minutes kWaitMax{5};  // far beyond the duration of any passing test

void refuse(const char* what) { throw Error(ErrorKind::InvalidArgument, "ValueError", what); }

}  // namespace

Tensor foo_add() { return ones({1}) + ones({1}); }
DISTRUN_RPC(foo_add)

std::int64_t min(std::int64_t a, std::int64_t b, std::int64_t c) { return std::min({a, b, c}); }
DISTRUN_RPC(min)

rpc::Value plus(const rpc::Value& a, const rpc::Value& b) {
  if (a.kind() != rpc::Kind::Tensor && b.kind() == rpc::Kind::Tensor) return plus(b, a);
  return rpc::run_operator("add", rpc::ValueList{a, b});
}

rpc::Value my_function(rpc::Value a, rpc::Value b, rpc::Value c) { return plus(plus(a, b), c); }
DISTRUN_RPC(my_function, "a", "b", "c")

Tensor my_tensor_function(Tensor a, Tensor b) { return a + b; }
DISTRUN_RPC(my_tensor_function, "a", "b")

Tensor my_container_sum(std::vector<Tensor> a) {
  Tensor result = a.at(0);
  for (std::size_t i = 1; i < a.size(); ++i) add_(result, a[i]);
  return result;
}
DISTRUN_RPC(my_container_sum, "a")

rpc::Value identity(rpc::Value value) { return value; }
DISTRUN_RPC(identity, "a")

void no_result() { std::cout << "do nothing\n"; }
DISTRUN_RPC(no_result)

std::int64_t light_rpc() { return 0; }
DISTRUN_RPC(light_rpc)

std::int64_t heavy_rpc(Tensor tensor) {
  for (int i = 1; i < kHeavyRounds; ++i) {
    mul_(tensor, i);
    div_(tensor, i + 1);
  }
  return 0;
}
DISTRUN_RPC(heavy_rpc, "tensor")

std::int64_t heavy_rpc_sparse(Tensor tensor) {
  for (int i = 1; i < kHeavyRounds; ++i) {
    mul_(tensor, i);
    tensor = tensor / (i + 1);
  }
  return 0;
}
DISTRUN_RPC(heavy_rpc_sparse, "tensor")

void noop() {}
DISTRUN_RPC(noop)

void my_sleep_func(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }
DISTRUN_RPC(my_sleep_func, "seconds")

Tensor slow_add(Tensor x, Tensor y) {
  std::this_thread::sleep_for(std::chrono::seconds(1));
  return x + y;
}
DISTRUN_RPC(slow_add, "x", "y")

std::tuple<Tensor, rpc::Value, rpc::Value, rpc::Value> my_complex_tensor_function(
    std::vector<Tensor> list_input, TensorClass tensor_class_input, std::map<std::string, Tensor> dict_input) {
  const Tensor result = list_input.at(0);
  for (const Tensor& each : list_input) add_(result, each);
  for (const auto& [name, each] : dict_input) add_(result, each);
  const auto& tensors = rpc::from_value<rpc::List>(tensor_class_input.tensors).items;
  return {result, tensors.at(0), tensors.at(1), tensors.at(2)};
}
DISTRUN_RPC(my_complex_tensor_function, "list_input", "tensor_class_input", "dict_input")

Tensor non_cont_test(Tensor view, Tensor contiguous) {
  if (view.is_contiguous()) refuse("t_view is contiguous!");
  if (!contiguous.is_contiguous()) refuse("t_cont is not contiguous!");
  if (!equal(view, contiguous)) refuse("t_view is not equal to t_cont!");
  return view;
}
DISTRUN_RPC(non_cont_test, "t_view", "t_cont")

Tensor build_sparse_tensor() {
  return sparse_coo(from_values<std::int64_t>({0, 1, 1, 2, 0, 2}, {2, 3}), from_values<std::int64_t>({3, 4, 5}),
                    {2, 3});
}

void set_value(std::int64_t value) { promise().here()->set_result(value); }
DISTRUN_RPC(set_value, "value")

std::int64_t get_count() { return counter().here()->load(); }
DISTRUN_RPC(get_count)
void reset_count() { counter().here()->store(0); }
DISTRUN_RPC(reset_count)
void increment_count() { ++*counter().here(); }
DISTRUN_RPC(increment_count)

void timed_out_rpc() { event().here()->wait(kWaitMax); }
DISTRUN_RPC(timed_out_rpc)

Tensor nested_rpc(std::string dst) { return rpc_sync<Tensor>(dst, "add", ones({2, 2}), 1); }
DISTRUN_RPC(nested_rpc, "dst")

Tensor nested_rpc_sparse(std::string dst) {
  return rpc_sync<Tensor>(dst, "add", build_sparse_tensor(), build_sparse_tensor());
}
DISTRUN_RPC(nested_rpc_sparse, "dst")

std::int64_t multi_layer_nested_async_rpc(std::int64_t dst, std::int64_t world_size, std::int64_t ttl) {
  if (ttl > 0) {
    const std::string whom = "worker" + std::to_string(dst);
    rpc_async(whom, multi_layer_nested_async_rpc, (dst + 1) % world_size, world_size, ttl - 1);
  }
  return 0;
}
DISTRUN_RPC(multi_layer_nested_async_rpc, "dst", "world_size", "ttl")

}  // namespace distrun::suites
