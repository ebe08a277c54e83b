#pragma once
// Classes of ported tests that are constructed, called and sent by RPC, under their original names.
#include <optional>
#include <string>

#include <distrun/runtime/future/future.hpp>
#include <distrun/runtime/rpc/functions/register_class.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::suites {

class MyClass {
 public:
  explicit MyClass(std::int64_t number) : a(number) {}
  explicit MyClass(rpc::Value value, std::optional<bool> delay = {});  // with a delay it takes two seconds

  rpc::Value my_instance_method(rpc::Value b) const;  // a + b
  static rpc::Value my_class_method(const rpc::ClassName& type, rpc::Value d, rpc::Value e);
  static bool my_static_method(std::int64_t f) { return f > 10; }
  void increment_value(rpc::Value increment);
  rpc::Value get_value() const { return a; }
  rpc::Value my_slow_method(rpc::Value b) const;  // a + b, after five seconds

  rpc::Value a;
};

// Takes `seconds` to encode, and as long to decode.
struct SlowPickleClass {
  double seconds;
};

// Its encoder packs a call; its decoder unpacks the call, runs it, and keeps the result.
struct MyPickleClass {
  Tensor t;
};
Tensor run_nested_pickle(MyPickleClass object, Tensor tensor);  // object.t + tensor

class AsyncExecutionClass {
 public:
  // Return x + y + z; `to` computes the first sum.
  static Future<Tensor> static_async_add(std::string to, Tensor x, std::int64_t y, std::int64_t z);
  static Future<Tensor> class_async_add(const rpc::ClassName& type, std::string to, Tensor x, std::int64_t y,
                                        std::int64_t z);
  Future<Tensor> bound_async_add(std::string to, Tensor x, std::int64_t y, std::int64_t z);
};

// The functions of a suite's class.
struct RpcTestFunctions {
  static std::int64_t return_callee_id();
};

}  // namespace distrun::suites
