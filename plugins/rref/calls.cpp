// References created by calls of operators and functions: local, remote, and many.
#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;

namespace {

constexpr double kNeighbour = 0.5;  // added to a rank, it gives a number of no rank

// Calls in each of the three ways, and waits for the results.
template <class Whom>
std::vector<Tensor> add_in_each_way(const Whom& whom) {
  return {rpc_sync<Tensor>(whom, "add", ones({2, 2}), 1), rpc_async<Tensor>(whom, "add", ones({2, 2}), 1).wait(),
          remote<Tensor>(whom, "add", ones({2, 2}), 1).to_here()};
}

template <class Whom>
std::vector<Thrown> thrown_in_each_way(const Whom& whom) {
  return {thrown_by([&] {
            rpc_sync<Tensor>(whom, "add", ones({2, 2}), 1);
          }),
          thrown_by([&] {
            rpc_async<Tensor>(whom, "add", ones({2, 2}), 1).wait();
          }),
          thrown_by([&] {
            remote<Tensor>(whom, "add", ones({2, 2}), 1).to_here();
          })};
}

}  // namespace

DISTRUN_SUITE(RpcTest, .world_size = fixed(4));

DISTRUN_TEST_F(RpcTest, send_to_rank) {
  for (const Tensor& sum : add_in_each_way(next_rank(rank))) DISTRUN_EXPECT(what_differs(sum, square(2, 2)) == "");
  for (const int nobody : {rank.world_size() + 1, -1}) {
    for (const Thrown& thrown : thrown_in_each_way(nobody)) {
      DISTRUN_EXPECT(thrown == an_error("RuntimeError", "could not find destination id"));
    }
  }
  for (const double no_rank : {next_rank(rank) + kNeighbour, next_rank(rank) - kNeighbour}) {
    for (const Thrown& thrown : thrown_in_each_way(no_rank)) DISTRUN_EXPECT(thrown == an_error("ValueError", ""));
  }
}

DISTRUN_TEST_F(RpcTest, self_py_udf_remote) {
  const auto sum = remote<Tensor>(rpc::get_worker_info(), "my_function", ones({2, 2}), 1, 3);
  DISTRUN_EXPECT(what_differs(sum.to_here(), square(2, 5)) == "");
}

DISTRUN_TEST(RpcTest, world_size_one) {
  if (rank.rank() != 0) return;
  start_rpc_alone(rank);
  const Tensor at_once = rpc_sync("me", my_tensor_function, ones({2, 2}), ones({2, 2}));
  const auto later = rpc_async("me", my_tensor_function, ones({2, 2}), ones({2, 2}));
  const auto there = remote("me", my_tensor_function, ones({2, 2}), ones({2, 2}));
  DISTRUN_EXPECT(what_differs(at_once, square(2, 2)) == "");
  DISTRUN_EXPECT(what_differs(later.wait(), square(2, 2)) == "");
  DISTRUN_EXPECT(what_differs(there.to_here(), square(2, 2)) == "");
  rpc::shutdown();
}

DISTRUN_TEST_F(RpcTest, builtin_remote_ret) {
  const auto sum = remote<Tensor>(next_worker(rank), "add", ones({2, 2}), ones({2, 2}));
  DISTRUN_EXPECT(what_differs(sum.to_here(), square(2, 2)) == "");
}

DISTRUN_TEST_F(RpcTest, builtin_remote_self) {
  const auto sum = remote<Tensor>(std::string(rank.worker_name()), "add", ones({2, 2}), ones({2, 2}));
  DISTRUN_EXPECT(what_differs(sum.local_value(), square(2, 2)) == "");
}

DISTRUN_TEST_F(RpcTest, multi_builtin_remote_ret) {
  std::vector<RRef<Tensor>> sums;
  for (const std::int64_t n : growing_sizes(rank)) {
    sums.push_back(remote<Tensor>(next_worker(rank), "add", square(n), square(n)));
  }
  std::size_t i = 0;
  for (const std::int64_t n : growing_sizes(rank)) {
    DISTRUN_EXPECT(what_differs(sums.at(i++).to_here(), square(n, 2)) == "");
  }
}

DISTRUN_TEST_F(RpcTest, py_udf_remote) {
  using rpc::arg;
  const std::int64_t n = n_of(rank);
  const auto sum =
      remote<std::int64_t>(next_worker(rank), "my_function", arg("a", n), arg("b", n + 1), arg("c", n + 2));
  DISTRUN_EXPECT(sum.to_here() == 3 * n + 3);
}

DISTRUN_TEST_F(RpcTest, multi_py_udf_remote) {
  using rpc::arg;
  std::vector<RRef<Tensor>> sums;
  for (const std::int64_t n : growing_sizes(rank)) {
    sums.push_back(remote<Tensor>(next_worker(rank), "my_function", arg("a", square(n)), arg("b", square(n)),
                                  arg("c", square(n))));
  }
  std::size_t i = 0;
  for (const std::int64_t n : growing_sizes(rank)) {
    DISTRUN_EXPECT(what_differs(sums.at(i++).to_here(), square(n, 3)) == "");
  }
}

DISTRUN_TEST_F(RpcTest, remote_with_exception) {
  const auto raised = remote(next_worker(rank), raise_func);
  DISTRUN_EXPECT(thrown_by([&] { raised.to_here(); }) == an_error("ValueError", "Expected error"));
  const auto refused = remote(std::string(rank.worker_name()), "no_result", 10);
  DISTRUN_EXPECT(thrown_by([&] { refused.to_here(); }) == an_error("TypeError", "takes 0 positional arguments"));
}

DISTRUN_TEST_F(RpcTest, rref_get_future) {
  if (rank.rank() != 0) return;
  const auto of_operator = remote<std::int64_t>("worker1", "add", 1, 1);
  DISTRUN_EXPECT(of_operator.to_here() == 2);
  const auto of_function = remote("worker1", foo_add);
  DISTRUN_EXPECT(what_differs(of_function.to_here(), full({1}, 2)) == "");
  const auto of_graph = remote<Tensor>("worker1", my_script_func(), scalar_tensor(1));
  DISTRUN_EXPECT(what_differs(of_graph.to_here(), scalar_tensor(2)) == "");
  for (const Future<rpc::Value>& creation : {of_operator.creation(), of_function.creation(), of_graph.creation()}) {
    creation.wait();
    DISTRUN_EXPECT(creation.done());
    DISTRUN_EXPECT(!creation.failed());
  }
}
