// Methods of a reference's value, run on its owner.
#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;

namespace {

RRef<Tensor> tensor_of(const rpc::Destination& owner) {
  return remote<Tensor>(owner, "my_function", ones({2, 2}), 1, 3);
}

void expect_tensor_methods(const rpc::Destination& owner) {
  const auto five = tensor_of(owner);
  const auto size = five.rpc_sync().call<std::vector<std::int64_t>>("size");
  DISTRUN_EXPECT(size == ones({2, 2}).sizes());
  DISTRUN_EXPECT(what_differs(five.rpc_async().call<Tensor>("add", 1).wait(), square(2, 6)) == "");
  DISTRUN_EXPECT(what_differs(five.remote().call<Tensor>("view", 1, 4).to_here(), full({1, 4}, 5)) == "");
}

void expect_values(const RRef<MyClass>& object, std::int64_t value) {
  DISTRUN_EXPECT(object.rpc_sync().call<std::int64_t>("get_value") == value);
  DISTRUN_EXPECT(object.rpc_async().call<std::int64_t>("get_value").wait() == value);
  DISTRUN_EXPECT(object.remote().call<std::int64_t>("get_value").to_here() == value);
}

void expect_class_methods(const rpc::Destination& owner) {
  const auto object = remote<MyClass>(owner, "MyClass", 7);
  const auto at_once = object.rpc_sync();
  const auto later = object.rpc_async();
  const auto there = object.remote();
  expect_values(object, 7);
  DISTRUN_EXPECT(at_once.call("increment_value", 1).is_none());
  DISTRUN_EXPECT(later.call("increment_value", 1).wait().is_none());
  DISTRUN_EXPECT(there.call("increment_value", 1).to_here().is_none());
  expect_values(object, 10);
  DISTRUN_EXPECT(at_once.call<std::int64_t>("my_instance_method", 2) == 12);
  DISTRUN_EXPECT(later.call<std::int64_t>("my_instance_method", 3).wait() == 13);
  DISTRUN_EXPECT(there.call<std::int64_t>("my_instance_method", 4).to_here() == 14);
  DISTRUN_EXPECT(at_once.call<bool>("my_static_method", 9) == false);
  DISTRUN_EXPECT(later.call<bool>("my_static_method", 10).wait() == false);
  DISTRUN_EXPECT(there.call<bool>("my_static_method", 11).to_here() == true);
  DISTRUN_EXPECT(what_differs(at_once.call<Tensor>("my_class_method", 2, zeros({2, 2})), square(2, 2)) == "");
  DISTRUN_EXPECT(what_differs(later.call<Tensor>("my_class_method", 2, ones({3, 3})).wait(), square(3, 3)) == "");
  DISTRUN_EXPECT(what_differs(there.call<Tensor>("my_class_method", 2, ones({4, 4})).to_here(), square(4, 3)) == "");
}

}  // namespace

DISTRUN_TEST_F(RpcTest, rref_proxy_non_exist) {
  const auto five = tensor_of(next_worker(rank));
  const WantedError refused = an_error("AttributeError", "has no attribute 'non_exist'");
  DISTRUN_EXPECT(thrown_by([&] { five.rpc_sync().call("non_exist"); }) == refused);
  DISTRUN_EXPECT(thrown_by([&] { five.rpc_async().call("non_exist").wait(); }) == refused);
  DISTRUN_EXPECT(thrown_by([&] { five.remote().call("non_exist"); }) == refused);
}

DISTRUN_TEST_F(RpcTest, rref_proxy_tensor) { expect_tensor_methods(next_worker(rank)); }
DISTRUN_TEST_F(RpcTest, rref_proxy_tensor_self) { expect_tensor_methods(rpc::get_worker_info()); }

DISTRUN_TEST_F(RpcTest, rref_proxy_reuse) {
  using Sizes = std::vector<std::int64_t>;
  const auto five = tensor_of(next_worker(rank));
  const auto at_once = five.rpc_sync();
  const auto later = five.rpc_async();
  const auto there = five.remote();
  const Sizes sizes{2, 2};
  DISTRUN_EXPECT(at_once.call<Sizes>("size") == sizes);
  DISTRUN_EXPECT(what_differs(at_once.call<Tensor>("add", 1), square(2, 6)) == "");
  DISTRUN_EXPECT(what_differs(at_once.call<Tensor>("view", 1, 4), full({1, 4}, 5)) == "");
  DISTRUN_EXPECT(later.call<Sizes>("size").wait() == sizes);
  DISTRUN_EXPECT(what_differs(later.call<Tensor>("add", 3).wait(), square(2, 8)) == "");
  DISTRUN_EXPECT(what_differs(later.call<Tensor>("view", 4, 1).wait(), full({4, 1}, 5)) == "");
  DISTRUN_EXPECT(there.call<Sizes>("size").to_here() == sizes);
  DISTRUN_EXPECT(what_differs(there.call<Tensor>("add", 5).to_here(), square(2, 10)) == "");
  DISTRUN_EXPECT(what_differs(there.call<Tensor>("view", -1).to_here(), full({4}, 5)) == "");
}

DISTRUN_TEST_F(RpcTest, rref_proxy_class) { expect_class_methods(next_worker(rank)); }
DISTRUN_TEST_F(RpcTest, rref_proxy_class_self) { expect_class_methods(rpc::get_worker_info()); }
