// Classes: constructors, methods, and objects sent by value.
#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;

DISTRUN_TEST_F(RpcTest, py_class_constructor) {
  const std::int64_t n = n_of(rank);
  const auto made = rpc_sync<MyClass>(next_worker(rank), "MyClass", n);
  DISTRUN_EXPECT(rpc::from_value<std::int64_t>(made.a) == n);
}

DISTRUN_TEST_F(RpcTest, py_class_instance_method) {
  const std::int64_t n = n_of(rank);
  const auto method = rpc::bound(MyClass(2), "my_instance_method");
  DISTRUN_EXPECT(rpc_sync<std::int64_t>(next_worker(rank), method, n) == 2 + n);
}

DISTRUN_TEST_F(RpcTest, py_class_method) {
  const std::int64_t n = n_of(rank);
  DISTRUN_EXPECT(rpc_sync<std::int64_t>(next_worker(rank), "MyClass.my_class_method", n, n + 1) == 2 * n + 1);
}

DISTRUN_TEST_F(RpcTest, py_class_static_method) {
  const std::int64_t n = n_of(rank);
  const bool there = rpc_sync(next_worker(rank), MyClass::my_static_method, n + 10);
  DISTRUN_EXPECT(there == true);
  DISTRUN_EXPECT(there == MyClass::my_static_method(n + 10));
}
