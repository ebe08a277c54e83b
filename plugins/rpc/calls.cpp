// Calls of operators and functions, in sequence and many at once.
#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;

namespace {

constexpr int kLightCalls = 1000;
constexpr int kHeavyCalls = 20;

}  // namespace

DISTRUN_TEST_F(RpcTest, add) {
  const std::int64_t n = n_of(rank);
  const Tensor sum = rpc_sync<Tensor>(next_worker(rank), "add", square(n), square(n));
  DISTRUN_EXPECT(what_differs(sum, square(n, 2)) == "");
}

DISTRUN_TEST_F(RpcTest, scalar_add) {
  const std::int64_t n = n_of(rank);
  const Tensor sum = rpc_sync<Tensor>(next_worker(rank), "add", square(n), n);
  DISTRUN_EXPECT(what_differs(sum, square(n, static_cast<double>(n + 1))) == "");
}

DISTRUN_TEST_F(RpcTest, async_add) {
  const std::int64_t n = n_of(rank);
  const auto future = rpc_async<Tensor>(next_worker(rank), "add", square(n), square(n));
  DISTRUN_EXPECT(what_differs(future.wait(), square(n, 2)) == "");
}

DISTRUN_TEST_F(RpcTest, nonzero) {
  const Tensor x = square(4);
  fill_(select(select(x, 0, rank.rank()), 0, rank.rank()), 0);
  const Tensor found = rpc_sync<Tensor>(next_worker(rank), "nonzero", x);
  DISTRUN_EXPECT(found.dtype() == DType::I64);
  DISTRUN_EXPECT(found.sizes() == Dims({15, 2}));
  DISTRUN_EXPECT(what_differs(found, nonzero(x)) == "");
}

DISTRUN_TEST_F(RpcTest, multi_rpc) {
  for (int i = 0; i < 20; ++i) {
    const Tensor sum = rpc_sync<Tensor>(next_worker(rank), "add", square(2), square(2));
    DISTRUN_EXPECT(what_differs(sum, square(2, 2)) == "");
  }
}

DISTRUN_TEST_F(RpcTest, expected_src) {
  rpc_sync(next_worker(rank), set_value, rank.rank());
  DISTRUN_EXPECT(promise().here()->wait() == (rank.rank() + 3) % 4);
}

DISTRUN_TEST_F(RpcTest, py_built_in) {
  const std::int64_t n = n_of(rank);
  DISTRUN_EXPECT(rpc_sync<std::int64_t>(next_worker(rank), "min", n, n + 1, n + 2) == n);
}

DISTRUN_TEST_F(RpcTest, py_user_defined) {
  using rpc::arg;
  const std::int64_t n = n_of(rank);
  const std::string peer = next_worker(rank);
  const auto in_order = rpc_sync<std::int64_t>(peer, "my_function", arg("a", n), arg("b", n + 1), arg("c", n + 2));
  const auto shuffled = rpc_sync<std::int64_t>(peer, "my_function", arg("c", n + 2), arg("a", n), arg("b", n + 1));
  DISTRUN_EXPECT(in_order == 3 * n + 3);
  DISTRUN_EXPECT(shuffled == 3 * n + 3);
}

DISTRUN_TEST_F(RpcTest, py_multi_async_call) {
  const std::int64_t n = n_of(rank);
  const WorkerInfo peer = rpc::get_worker_info(next_worker(rank));
  const auto first = rpc_async(peer, MyClass::my_static_method, n + 10);
  const auto second = rpc_async<std::int64_t>(peer, "min", n, n + 1, n + 2);
  DISTRUN_EXPECT(first.wait() == true);
  DISTRUN_EXPECT(second.wait() == n);
}

DISTRUN_TEST_F(RpcTest, py_no_return_result) { DISTRUN_EXPECT(rpc_sync(next_worker(rank), "no_result").is_none()); }

DISTRUN_TEST_F(RpcTest, py_tensors) {
  const std::int64_t n = n_of(rank);
  const Tensor sum = rpc_sync(next_worker(rank), my_tensor_function, square(n), square(n));
  DISTRUN_EXPECT(what_differs(sum, square(n, 2)) == "");
}

DISTRUN_TEST_F(RpcTest, py_tensors_multi_async_call) {
  std::vector<Future<Tensor>> futures;
  for (int i = 0; i < 100; ++i) {
    futures.push_back(rpc_async(next_worker(rank), my_tensor_function, square(i), square(i)));
  }
  const std::vector<Tensor> sums = wait_all(futures);
  DISTRUN_REQUIRE(sums.size() == 100u);
  for (int i = 0; i < 100; ++i) {
    DISTRUN_EXPECT(what_differs(sums[static_cast<std::size_t>(i)], square(i, 2)) == "");
  }
}

DISTRUN_TEST_F(RpcTest, nested_rpc) {
  const Tensor sum = rpc_sync(next_worker(rank), nested_rpc, rpc::get_worker_info().name());
  DISTRUN_EXPECT(what_differs(sum, square(2, 2)) == "");
}

DISTRUN_TEST_F(RpcTest, stress_light_rpc) {
  std::vector<Future<std::int64_t>> futures;
  for (int i = 0; i < kLightCalls; ++i) futures.push_back(rpc_async(next_worker(rank), light_rpc));
  DISTRUN_EXPECT(wait_all(futures) == std::vector<std::int64_t>(kLightCalls, 0));
}

DISTRUN_TEST_F(RpcTest, stress_heavy_rpc) {
  std::vector<Future<std::int64_t>> futures;
  for (int i = 0; i < kHeavyCalls; ++i) {
    futures.push_back(rpc_async(next_worker(rank), heavy_rpc, square(100)));
  }
  DISTRUN_EXPECT(wait_all(futures) == std::vector<std::int64_t>(kHeavyCalls, 0));
}

// The shutdown follows at once, and waits for the chains.
DISTRUN_TEST_F(RpcTest, multi_layer_nested_async_rpc) {
  DISTRUN_EXPECT(multi_layer_nested_async_rpc(next_rank(rank), 4, 20) == 0);
}

// Ranks that wait in the rendezvous of a group still serve calls.
DISTRUN_TEST_F(RpcTest, deadlock) {
  if (rank.rank() == 1) {
    const Tensor sum = rpc_async(to(next_worker(rank)).within(15), slow_add, ones({2}), ones({2})).wait();
    DISTRUN_EXPECT(what_differs(sum, full({2}, 2)) == "");
  }
  open_group(rank);
  DISTRUN_EXPECT(collectives::is_initialized());
}

DISTRUN_TEST_F(TensorPipeAgentRpcTest, op_with_invalid_args) {
  DISTRUN_EXPECT(thrown_by([&] { rpc_sync(next_worker(rank), "add"); }) ==
                 an_error("RuntimeError", "Overloaded torch operator invoked from Python failed to match any schema"));
}
