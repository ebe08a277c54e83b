#include "rpc_classes.hpp"

#include <chrono>
#include <thread>

#include <distrun/rpc.hpp>
#include <distrun/runtime/rpc/values/serializer.hpp>
#include <distrun/tensors.hpp>

#include "rpc_callees.hpp"

namespace distrun::suites {
namespace {

using rpc::Execution;
using rpc::RegisterClass;

double slow_by(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  return seconds;
}

// An encoded call.
using PackedCall = std::pair<std::string, TensorList>;

PackedCall encode_call(const MyPickleClass& /*object*/) {
  rpc::Tuple call;
  call.items = {rpc::to_value(rpc::FunctionName{"my_tensor_function"}), rpc::to_value(ones({2, 2})),
                rpc::to_value(ones({2, 2}))};
  const rpc::Packed packed = rpc::current_serializer().pack(rpc::Value(std::move(call)));
  return {std::string(reinterpret_cast<const char*>(packed.bytes.data()), packed.bytes.size()), packed.tensors};
}

MyPickleClass decode_call(const PackedCall& packed) {
  const auto* const first = reinterpret_cast<const wire::Bytes::value_type*>(packed.first.data());
  const rpc::Value call =
      rpc::current_serializer().unpack({wire::Bytes(first, first + packed.first.size()), packed.second});
  const auto [name, a, b] = rpc::from_value<std::tuple<rpc::FunctionName, rpc::Value, rpc::Value>>(call);
  const rpc::Result made = rpc::get_function(name.name)->run({a, b});
  return {rpc::from_value<Tensor>(std::get<rpc::Value>(made))};
}

[[maybe_unused]] const auto kMyClass =
    RegisterClass<MyClass>("MyClass")
        .constructor<rpc::Value, std::optional<bool>>({"a", "delay"})
        .method("my_instance_method", &MyClass::my_instance_method, {"b"})
        .class_method("my_class_method", &MyClass::my_class_method, {"d", "e"})
        .static_method("my_static_method", &MyClass::my_static_method, {"f"})
        .method("increment_value", &MyClass::increment_value, {"increment"})
        .method("get_value", &MyClass::get_value)
        .method("my_slow_method", &MyClass::my_slow_method, {"b"})
        .by_value([](const MyClass& object) { return object.a; }, [](rpc::Value a) { return MyClass(std::move(a)); });

[[maybe_unused]] const auto kSlowPickleClass =
    RegisterClass<SlowPickleClass>("SlowPickleClass")
        .by_value([](const SlowPickleClass& object) { return slow_by(object.seconds); },
                  [](double seconds) { return SlowPickleClass{slow_by(seconds)}; });

[[maybe_unused]] const auto kMyPickleClass =
    RegisterClass<MyPickleClass>("MyPickleClass").by_value(encode_call, decode_call);

[[maybe_unused]] const auto kAsyncExecutionClass =
    RegisterClass<AsyncExecutionClass>("AsyncExecutionClass")
        .constructor<>()
        .static_method<Execution::Async>("static_async_add", &AsyncExecutionClass::static_async_add,
                                         {"to", "x", "y", "z"})
        .class_method<Execution::Async>("class_async_add", &AsyncExecutionClass::class_async_add, {"to", "x", "y", "z"})
        .method<Execution::Async>("bound_async_add", &AsyncExecutionClass::bound_async_add, {"to", "x", "y", "z"});

[[maybe_unused]] const auto kRpcTestFunctions =
    RegisterClass<RpcTestFunctions>("RpcTest").static_method("return_callee_id", &RpcTestFunctions::return_callee_id);

}  // namespace

MyClass::MyClass(rpc::Value value, std::optional<bool> delay) : a(std::move(value)) {
  if (delay.value_or(false)) slow_by(2);
}

rpc::Value MyClass::my_instance_method(rpc::Value b) const { return plus(a, b); }
rpc::Value MyClass::my_class_method(const rpc::ClassName& type, rpc::Value d, rpc::Value e) {
  if (type.name != "MyClass") throw Error(ErrorKind::InvalidArgument, "ValueError", "called of class " + type.name);
  return plus(d, e);
}
void MyClass::increment_value(rpc::Value increment) { a = plus(a, increment); }
rpc::Value MyClass::my_slow_method(rpc::Value b) const {
  slow_by(5);
  return plus(a, b);
}

Tensor run_nested_pickle(MyPickleClass object, Tensor tensor) { return object.t + tensor; }
DISTRUN_RPC(run_nested_pickle, "pickle_cls_instance", "tensor")

Future<Tensor> AsyncExecutionClass::static_async_add(std::string to, Tensor x, std::int64_t y, std::int64_t z) {
  return async_add_chained(std::move(to), std::move(x), y, z);
}
Future<Tensor> AsyncExecutionClass::class_async_add(const rpc::ClassName& /*type*/, std::string to, Tensor x,
                                                    std::int64_t y, std::int64_t z) {
  return async_add_with_future_ctor(std::move(to), std::move(x), y, z);
}
Future<Tensor> AsyncExecutionClass::bound_async_add(std::string to, Tensor x, std::int64_t y, std::int64_t z) {
  return async_add_chained(std::move(to), std::move(x), y, z);
}

std::int64_t RpcTestFunctions::return_callee_id() { return rpc::get_worker_info().id(); }

}  // namespace distrun::suites
