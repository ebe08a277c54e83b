// References to sparse tensors.
#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;

namespace {

using Pair = std::vector<RRef<Tensor>>;

Tensor s(std::int64_t times = 1) { return build_sparse_tensor() * times; }

// A reference to the sum of three.
RRef<Tensor> three(const rpc::Destination& owner) { return remote<Tensor>(owner, "my_function", s(), s(), s()); }
RRef<Tensor> two(const rpc::Destination& owner) { return remote<Tensor>(owner, "add", s(), s()); }

void expect_add_in_each_way(int whom, const Tensor& x, const Tensor& y) {
  const Tensor expected = x + y;
  DISTRUN_EXPECT(what_differs(rpc_sync<Tensor>(whom, "add", x, y), expected) == "");
  DISTRUN_EXPECT(what_differs(rpc_async<Tensor>(whom, "add", x, y).wait(), expected) == "");
  DISTRUN_EXPECT(what_differs(remote<Tensor>(whom, "add", x, y).to_here(), expected) == "");
}

void expect_adds_in_calls(const rpc::Destination& whom) {
  const auto own = three(rpc::get_worker_info());
  const auto later = rpc_async<Tensor>(whom, "add_rref_to_value", own, s());
  const Tensor at_once = rpc_sync<Tensor>(whom, "add_rref_to_value", own, s() + s());
  DISTRUN_EXPECT(what_differs(at_once, s(5)) == "");
  DISTRUN_EXPECT(what_differs(later.wait(), s(4)) == "");
}

void expect_adds_there(const rpc::Destination& whom) {
  const auto own = three(rpc::get_worker_info());
  DISTRUN_EXPECT(what_differs(remote<Tensor>(whom, "add_rref_to_value", own, s()).to_here(), s(4)) == "");
}

RRef<Pair> make_pair_of(const Rank& rank) {
  return remote<Pair>(next_worker(rank), "nested_rref_sparse", next_worker(rank, 2));
}

void expect_pair(const RRef<Pair>& made) {
  const Pair pair = made.to_here();
  DISTRUN_EXPECT(pair.size() == 2u);
  for (const RRef<Tensor>& each : pair) DISTRUN_EXPECT(what_differs(each.to_here(), s(2)) == "");
}

}  // namespace

DISTRUN_SUITE(TensorPipeAgentRpcTest, .world_size = fixed(4));

DISTRUN_TEST_F(TensorPipeAgentRpcTest, send_to_rank_sparse) {
  DISTRUN_EXPECT(!tensor::is_coalesced(s()));
  expect_add_in_each_way(next_rank(rank), s(), s());
  expect_add_in_each_way(next_rank(rank), coalesce(s()), coalesce(s()));
}

DISTRUN_TEST_F(TensorPipeAgentRpcTest, self_py_udf_remote_sparse) {
  DISTRUN_EXPECT(what_differs(three(rpc::get_worker_info()).to_here(), s() + s() + s()) == "");
}

DISTRUN_TEST_F(TensorPipeAgentRpcTest, self_remote_rref_as_rpc_arg_sparse) { expect_adds_in_calls(next_worker(rank)); }
DISTRUN_TEST_F(TensorPipeAgentRpcTest, self_remote_rref_as_self_rpc_arg_sparse) {
  expect_adds_in_calls(rpc::get_worker_info());
}
DISTRUN_TEST_F(TensorPipeAgentRpcTest, self_remote_rref_as_remote_arg_sparse) { expect_adds_there(next_worker(rank)); }
DISTRUN_TEST_F(TensorPipeAgentRpcTest, self_remote_rref_as_self_remote_arg_sparse) {
  expect_adds_there(rpc::get_worker_info());
}

DISTRUN_TEST(TensorPipeAgentRpcTest, world_size_one_sparse) {
  if (rank.rank() != 0) return;
  start_rpc_alone(rank);
  const Tensor at_once = rpc_sync("me", my_tensor_function, s(), s());
  const auto later = rpc_async("me", my_tensor_function, s(), s());
  const auto there = remote("me", my_tensor_function, s(), s());
  DISTRUN_EXPECT(what_differs(at_once, s(2)) == "");
  DISTRUN_EXPECT(what_differs(later.wait(), s(2)) == "");
  DISTRUN_EXPECT(what_differs(there.to_here(), s(2)) == "");
  rpc::shutdown();
}

DISTRUN_TEST_F(TensorPipeAgentRpcTest, builtin_remote_ret_sparse) {
  DISTRUN_EXPECT(what_differs(two(next_worker(rank)).to_here(), s(2)) == "");
}

DISTRUN_TEST_F(TensorPipeAgentRpcTest, builtin_remote_self_sparse) {
  DISTRUN_EXPECT(what_differs(two(std::string(rank.worker_name())).local_value(), s(2)) == "");
}

DISTRUN_TEST_F(TensorPipeAgentRpcTest, multi_builtin_remote_ret_sparse) {
  std::vector<RRef<Tensor>> sums;
  for (int i = 0; i < 10; ++i) sums.push_back(two(next_worker(rank)));
  for (const RRef<Tensor>& each : sums) DISTRUN_EXPECT(what_differs(each.to_here(), s() + s()) == "");
}

DISTRUN_TEST_F(TensorPipeAgentRpcTest, multi_py_udf_remote_sparse) {
  using rpc::arg;
  std::vector<RRef<Tensor>> sums;
  for (int i = 0; i < 10; ++i) {
    sums.push_back(remote<Tensor>(next_worker(rank), "my_function", arg("a", s()), arg("b", s()), arg("c", s())));
  }
  for (const RRef<Tensor>& each : sums) DISTRUN_EXPECT(what_differs(each.to_here(), s() + s() + s()) == "");
}

DISTRUN_TEST_F(TensorPipeAgentRpcTest, py_rref_args_sparse) {
  const std::string peer = next_worker(rank);
  const auto a = two(peer), b = two(peer);
  DISTRUN_EXPECT(what_differs(remote(peer, my_rref_function, a, b).to_here(), s(4)) == "");
}

// A third worker gets them from their owner.
DISTRUN_TEST_F(TensorPipeAgentRpcTest, py_rref_args_user_share_sparse) {
  const auto a = three(next_worker(rank)), b = three(next_worker(rank));
  DISTRUN_EXPECT(what_differs(remote(next_worker(rank, 2), my_rref_function, a, b).to_here(), s(6)) == "");
}

DISTRUN_TEST_F(TensorPipeAgentRpcTest, py_rpc_rref_args_sparse) {
  const std::string peer = next_worker(rank);
  const auto a = three(peer), b = three(peer);
  DISTRUN_EXPECT(what_differs(rpc_sync(peer, my_rref_function, a, b), s(6)) == "");
}

DISTRUN_TEST_F(TensorPipeAgentRpcTest, nested_remote_sparse) {
  const auto sum = remote(next_worker(rank), nested_remote_sparse, next_worker(rank, 2));
  DISTRUN_EXPECT(what_differs(sum.to_here(), s() + s()) == "");
}

DISTRUN_TEST_F(TensorPipeAgentRpcTest, nested_rref_sparse) { expect_pair(make_pair_of(rank)); }

DISTRUN_TEST_F(TensorPipeAgentRpcTest, nested_rref_stress_sparse) {
  std::vector<RRef<Pair>> made;
  for (int i = 0; i < 20; ++i) made.push_back(make_pair_of(rank));
  for (const RRef<Pair>& each : made) expect_pair(each);
}
