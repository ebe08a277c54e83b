// Futures of calls, their continuations, and what they refuse.
#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;

namespace {

// The call that each of these tests makes to the next worker.
Future<Tensor> add_there(const Rank& rank, const Tensor& x, const Tensor& y) {
  return rpc_async<Tensor>(next_worker(rank), "add", x, y);
}
Future<Tensor> add_there(const Rank& rank, const Tensor& x, std::int64_t y) {
  return rpc_async<Tensor>(next_worker(rank), "add", x, y);
}

}  // namespace

DISTRUN_TEST_F(RpcTest, future_wait_twice) {
  std::vector<Future<void>> futures;
  for (int i = 0; i < 20; ++i) futures.push_back(rpc_async(next_worker(rank), raise_func));
  DISTRUN_EXPECT(thrown_by([&] { wait_all(futures); }) == an_error("ValueError", "Expected error"));
  for (const auto& each : futures) {
    DISTRUN_EXPECT(thrown_by([&] { each.wait(); }) == an_error("ValueError", "Expected error"));
  }
}

DISTRUN_TEST_F(RpcTest, callback_simple) {
  const std::int64_t n = n_of(rank);
  const Future<Tensor> set_later;
  const auto future = add_there(rank, square(n), square(n));
  const auto child = future.then([set_later](const Future<Tensor>& done) { set_later.set_result(done.wait() + 1); });
  DISTRUN_EXPECT(what_differs(future.wait(), square(n, 2)) == "");
  DISTRUN_EXPECT(what_differs(set_later.wait(), square(n, 3)) == "");
  DISTRUN_EXPECT(what_differs(future.wait(), square(n, 2)) == "");
}

// The function takes three arguments and gets only the future: the continuation's future has that error.
DISTRUN_TEST_F(RpcTest, callback_wrong_arg_num) {
  const std::int64_t n = n_of(rank);
  const auto future = add_there(rank, square(n), square(n));
  const auto child = rpc::then_call(future, "my_function");
  DISTRUN_EXPECT(what_differs(future.wait(), square(n, 2)) == "");
  DISTRUN_EXPECT(thrown_by([&] { child.wait(); }) ==
                 an_error("TypeError", "my_function() missing 2 required positional arguments"));
}

// The operator gets the future instead of its value.
DISTRUN_TEST_F(RpcTest, callback_wrong_arg_type) {
  const auto future = add_there(rank, square(2), 1);
  const auto child = rpc::then_call(future, "add", {rpc::to_value(1)});
  DISTRUN_EXPECT(thrown_by([&] { child.wait(); }) == an_error("TypeError", "unsupported operand type(s) for +"));
}

DISTRUN_TEST_F(RpcTest, callback_multi) {
  const std::int64_t n = n_of(rank);
  const auto future = add_there(rank, square(n), square(n));
  std::vector<Future<Tensor>> children;
  for (int i = 0; i < 10; ++i) {
    children.push_back(future.then([i, n](const Future<Tensor>& done) {
      DISTRUN_EXPECT(what_differs(done.wait(), square(n, 2)) == "");
      return done.wait() + i;
    }));
  }
  DISTRUN_EXPECT(what_differs(future.wait(), square(n, 2)) == "");
  for (std::size_t i = 0; i < children.size(); ++i) {
    DISTRUN_EXPECT(what_differs(children[i].wait(), square(n, 2 + static_cast<double>(i))) == "");
  }
  DISTRUN_EXPECT(what_differs(future.wait(), square(n, 2)) == "");
}

DISTRUN_TEST_F(RpcTest, callback_chain) {
  const std::int64_t n = n_of(rank);
  Future<Tensor> future = add_there(rank, square(n), 1);
  for (int i = 0; i < 20; ++i) {
    future = future.then([](const Future<Tensor>& done) { return done.wait() + 1; });
  }
  DISTRUN_EXPECT(what_differs(future.wait(), square(n, 22)) == "");
}

DISTRUN_TEST_F(RpcTest, callback_in_rpc) {
  const Tensor sum = rpc_sync(next_worker(rank), add_use_future_cb, next_worker(rank, 2), square(2), 1, 2);
  DISTRUN_EXPECT(what_differs(sum, square(2, 4)) == "");
}

// A continuation makes another call, and blocks on it.
DISTRUN_TEST_F(RpcTest, callback_with_ret) {
  const std::string peer = next_worker(rank);
  const auto sum = add_there(rank, square(2), 1).then([peer](const Future<Tensor>& first) {
    const auto second = rpc_async<Tensor>(peer, "add", first.wait(), 1);
    return second.then([](const Future<Tensor>& done) { return done.wait() + 1; }).wait();
  });
  DISTRUN_EXPECT(what_differs(sum.wait(), square(2, 4)) == "");
}

DISTRUN_TEST_F(RpcTest, callback_with_error) {
  const auto child = rpc_async(next_worker(rank), raise_func).then([](const Future<void>& done) {
    DISTRUN_EXPECT(thrown_by([&] { done.wait(); }) == an_error("ValueError", "Expected error"));
    throw Error(ErrorKind::Failed, "Another expected error");
  });
  DISTRUN_EXPECT(thrown_by([&] { child.wait(); }) == an_error("RuntimeError", "Another expected error"));
}

// The call fails, and its error stays unseen.
DISTRUN_TEST_F(RpcTest, callback_none) {
  const std::function<int(Future<void>)> none;
  DISTRUN_EXPECT(thrown_by([&] { rpc_async(next_worker(rank), raise_func).then(none); }) ==
                 an_error("TypeError", "incompatible function arguments."));
}

DISTRUN_TEST_F(RpcTest, add_done_callback) {
  const std::int64_t n = n_of(rank);
  const auto is_set = std::make_shared<std::atomic<bool>>(false);
  const auto future = add_there(rank, square(n), square(n));
  future.add_done_callback([is_set](const Future<Tensor>& done) {
    done.wait();
    *is_set = true;
  });
  const auto child = future.then([](const Future<Tensor>&) { return true; });
  DISTRUN_EXPECT(what_differs(future.wait(), square(n, 2)) == "");
  DISTRUN_EXPECT(child.wait() == true);
  DISTRUN_EXPECT(is_set->load() == true);
  DISTRUN_EXPECT(what_differs(future.wait(), square(n, 2)) == "");
}

DISTRUN_TEST_F(RpcTest, mark_future_twice) {
  const auto future = rpc_async(next_worker(rank), "add", zeros({2, 2}), 1);
  DISTRUN_EXPECT(what_differs(rpc::from_value<Tensor>(future.wait()), square(2)) == "");
  DISTRUN_EXPECT(thrown_by([&] { future.set_result(rpc::to_value(1)); }) ==
                 an_error("RuntimeError", "Future can only be marked completed once"));
}

DISTRUN_TEST_F(RpcTest, future_done) {
  const auto future = add_there(rank, zeros({2}), 1);
  future.wait();
  DISTRUN_EXPECT(future.done());
}

DISTRUN_TEST_F(RpcTest, future_done_exception) {
  const auto future = rpc_async(next_worker(rank), raise_func);
  DISTRUN_EXPECT(thrown_by([&] { future.wait(); }) == an_error("ValueError", "Expected error"));
  DISTRUN_EXPECT(future.done());
}

DISTRUN_TEST_F(RpcTest, future_in_rpc) {
  const Tensor sum = rpc_sync(next_worker(rank), add_use_future_set_result, next_worker(rank, 2), square(2), 1, 2);
  DISTRUN_EXPECT(what_differs(sum, square(2, 4)) == "");
}

DISTRUN_TEST_F(RpcTest, future_nested_callback) {
  const Tensor sum = rpc_sync(next_worker(rank), add_use_future_nested_cb, next_worker(rank, 2), square(2), 1, 2);
  DISTRUN_EXPECT(what_differs(sum, square(2, 4)) == "");
}

// Only asynchronous functions may return futures.
DISTRUN_TEST_F(RpcTest, return_future) {
  DISTRUN_EXPECT(thrown_by([&] { rpc_sync(next_worker(rank), return_future); }) ==
                 an_error("RuntimeError", "Can not pickle torch.futures.Future"));
}

DISTRUN_TEST_F(RpcTest, return_future_async) {
  const auto future = rpc_async(next_worker(rank), return_future);
  DISTRUN_EXPECT(thrown_by([&] { future.wait(); }) == an_error("RuntimeError", "Can not pickle torch.futures.Future"));
}
