// Functions and methods that return futures, called through references so that the result stays on the owner.
#include "suites.hpp"

#include "support/rref_callees_async.hpp"

using namespace distrun;
using namespace distrun::suites;

namespace {

constexpr char kNoFuture[] = "Functions decorated with @rpc.async_function must return a torch.futures.Future object,";

// `call` calls a method by name, and gets the sum.
template <class Call>
void add_by_all_methods(const Call& call) {
  Tensor total = zeros({2, 2});
  for (const char* method : {"static_async_add", "class_async_add", "bound_async_add"}) total = total + call(method);
  DISTRUN_EXPECT(what_differs(total, square(2, 12)) == "");
}

RRef<AsyncTensorClass> make_at_next(const Rank& rank) {
  return remote<AsyncTensorClass>(next_worker(rank), "AsyncTensorClass");
}

}  // namespace

DISTRUN_TEST_F(RpcTest, async_function_raise_remote) {
  DISTRUN_EXPECT(thrown_by([&] { remote(next_worker(rank), async_raise_func).to_here(); }) ==
                 an_error("RuntimeError", "Expected error"));
}

DISTRUN_TEST_F(RpcTest, async_function_wrong_return_type_remote) {
  DISTRUN_EXPECT(thrown_by([&] { remote(next_worker(rank), "async_wrong_type").to_here(); }) ==
                 an_error("RuntimeError", kNoFuture));
}

DISTRUN_TEST_F(RpcTest, async_function_with_future_ctor_remote) {
  const auto sum = remote(next_worker(rank), async_add_with_future_ctor, next_worker(rank, 2), square(2), 1, 2);
  DISTRUN_EXPECT(what_differs(sum.to_here(), square(2, 4)) == "");
}

DISTRUN_TEST_F(RpcTest, async_function_chained_remote) {
  const auto sum = remote(next_worker(rank), async_add_chained, next_worker(rank, 2), square(2), 1, 2);
  DISTRUN_EXPECT(what_differs(sum.to_here(), square(2, 4)) == "");
}

DISTRUN_TEST_F(RpcTest, async_function_nested_remote) {
  const auto sum = remote(next_worker(rank), async_add_nested, next_worker(rank, 2), square(2), 1, 2);
  DISTRUN_EXPECT(what_differs(sum.to_here(), square(2, 4)) == "");
}

DISTRUN_TEST_F(RpcTest, async_static_method_remote) {
  const auto sum =
      remote<Tensor>(next_worker(rank), "AsyncExecutionClass.static_async_add", next_worker(rank, 2), square(2), 1, 2);
  DISTRUN_EXPECT(what_differs(sum.to_here(), square(2, 4)) == "");
}

DISTRUN_TEST_F(RpcTest, async_class_method_remote) {
  const auto sum =
      remote<Tensor>(next_worker(rank), "AsyncExecutionClass.class_async_add", next_worker(rank, 2), square(2), 1, 2);
  DISTRUN_EXPECT(what_differs(sum.to_here(), square(2, 4)) == "");
}

DISTRUN_TEST_F(RpcTest, async_class_rref_proxy) {
  const auto proxy = make_at_next(rank).rpc_sync();
  add_by_all_methods([&](const char* method) {
    return proxy.call<Tensor>(method, next_worker(rank, 2), square(2), square(2), square(2, 2));
  });
}

DISTRUN_TEST_F(RpcTest, async_class_rref_proxy_async) {
  const auto proxy = make_at_next(rank).rpc_async();
  add_by_all_methods([&](const char* method) {
    return proxy.call<Tensor>(method, next_worker(rank, 2), square(2), square(2), square(2, 2)).wait();
  });
}

DISTRUN_TEST_F(RpcTest, async_class_rref_proxy_remote) {
  const auto proxy = make_at_next(rank).remote();
  add_by_all_methods([&](const char* method) {
    return proxy.call<Tensor>(method, next_worker(rank, 2), square(2), square(2), square(2, 2)).to_here();
  });
}

DISTRUN_TEST_F(RpcTest, async_function_multi_chained_remote) {
  const auto sum = remote(next_worker(rank), async_add_chained_multi, next_worker(rank, 2), square(2), 20, 3);
  DISTRUN_EXPECT(what_differs(sum.to_here(), square(2, 61)) == "");
}

DISTRUN_TEST_F(RpcTest, async_function_multi_fanout_remote) {
  const auto sum = remote(next_worker(rank), async_add_multi_fanout, next_worker(rank, 2), square(2), 20, 3);
  DISTRUN_EXPECT(what_differs(sum.to_here(), square(2, 61)) == "");
}

DISTRUN_TEST_F(RpcTest, return_future_remote) {
  DISTRUN_EXPECT(thrown_by([&] { remote(next_worker(rank), "return_future").to_here(); }) ==
                 an_error("RuntimeError", "Can not pickle torch.futures.Future"));
}

DISTRUN_TEST_F(RpcTest, remote_throw) {
  const auto rref = remote(next_worker(rank), raise_or_inc, ones({2}));
  DISTRUN_EXPECT(thrown_by([&] { rref.to_here(); }) == an_error("ValueError", "Expected error"));
}
