// Functions that return futures: the caller gets the future's value, and no thread of the callee waits meanwhile.
#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;

namespace {

constexpr int kMoreThanThreads = 10 * rpc::kDefaultWorkerThreads;
constexpr char kNoFuture[] = "Functions decorated with @rpc.async_function must return a torch.futures.Future object,";

}  // namespace

DISTRUN_TEST_F(RpcTest, async_function_raise) {
  DISTRUN_EXPECT(thrown_by([&] { rpc_sync(next_worker(rank), async_raise_func); }) ==
                 an_error("RuntimeError", "Expected error"));
}

DISTRUN_TEST_F(RpcTest, async_function_raise_async) {
  const auto future = rpc_async(next_worker(rank), async_raise_func);
  DISTRUN_EXPECT(thrown_by([&] { future.wait(); }) == an_error("RuntimeError", "Expected error"));
}

DISTRUN_TEST_F(RpcTest, async_function_wrong_return_type) {
  DISTRUN_EXPECT(thrown_by([&] { rpc_sync(next_worker(rank), "async_wrong_type"); }) ==
                 an_error("RuntimeError", kNoFuture));
}

DISTRUN_TEST_F(RpcTest, async_function_wrong_return_type_async) {
  const auto future = rpc_async(next_worker(rank), "async_wrong_type");
  DISTRUN_EXPECT(thrown_by([&] { future.wait(); }) == an_error("RuntimeError", kNoFuture));
}

DISTRUN_TEST_F(RpcTest, async_function_simple) {
  const Tensor sum = rpc_sync(next_worker(rank), async_add, next_worker(rank, 2), square(2), 1);
  DISTRUN_EXPECT(what_differs(sum, square(2, 2)) == "");

  // More of them than there are threads, and the call that completes them all is still served.
  std::vector<Future<std::int64_t>> pending;
  for (int i = 0; i < kMoreThanThreads; ++i) pending.push_back(rpc_async(next_worker(rank), async_wait_for_value));
  rpc_sync(next_worker(rank), set_value, 7);
  DISTRUN_EXPECT(wait_all(pending) == std::vector<std::int64_t>(kMoreThanThreads, 7));
}

DISTRUN_TEST_F(RpcTest, async_function_with_future_ctor) {
  const Tensor sum = rpc_sync(next_worker(rank), async_add_with_future_ctor, next_worker(rank, 2), square(2), 1, 2);
  DISTRUN_EXPECT(what_differs(sum, square(2, 4)) == "");
}

DISTRUN_TEST_F(RpcTest, async_function_chained) {
  const Tensor sum = rpc_sync(next_worker(rank), async_add_chained, next_worker(rank, 2), square(2), 1, 2);
  DISTRUN_EXPECT(what_differs(sum, square(2, 4)) == "");
}

DISTRUN_TEST_F(RpcTest, async_function_nested) {
  const Tensor sum = rpc_sync(next_worker(rank), async_add_nested, next_worker(rank, 2), square(2), 1, 2);
  DISTRUN_EXPECT(what_differs(sum, square(2, 4)) == "");
}

DISTRUN_TEST_F(RpcTest, async_static_method) {
  const Tensor sum = rpc_sync<Tensor>(next_worker(rank), "AsyncExecutionClass.static_async_add", next_worker(rank, 2),
                                      square(2), 1, 2);
  DISTRUN_EXPECT(what_differs(sum, square(2, 4)) == "");
}

DISTRUN_TEST_F(RpcTest, async_class_method) {
  const Tensor sum =
      rpc_sync<Tensor>(next_worker(rank), "AsyncExecutionClass.class_async_add", next_worker(rank, 2), square(2), 1, 2);
  DISTRUN_EXPECT(what_differs(sum, square(2, 4)) == "");
}

DISTRUN_TEST_F(RpcTest, async_function_multi_chained) {
  const Tensor sum = rpc_sync(next_worker(rank), async_add_chained_multi, next_worker(rank, 2), square(2), 20, 3);
  DISTRUN_EXPECT(what_differs(sum, square(2, 61)) == "");
}

DISTRUN_TEST_F(RpcTest, async_function_multi_chained_async) {
  const auto sum = rpc_async(next_worker(rank), async_add_chained_multi, next_worker(rank, 2), square(2), 20, 3);
  DISTRUN_EXPECT(what_differs(sum.wait(), square(2, 61)) == "");
}

DISTRUN_TEST_F(RpcTest, async_function_multi_fanout) {
  const Tensor sum = rpc_sync(next_worker(rank), async_add_multi_fanout, next_worker(rank, 2), square(2), 20, 3);
  DISTRUN_EXPECT(what_differs(sum, square(2, 61)) == "");
}

DISTRUN_TEST_F(RpcTest, async_function_multi_fanout_async) {
  const auto sum = rpc_async(next_worker(rank), async_add_multi_fanout, next_worker(rank, 2), square(2), 20, 3);
  DISTRUN_EXPECT(what_differs(sum.wait(), square(2, 61)) == "");
}
