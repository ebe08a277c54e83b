// References that calls return, and nested calls.
#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;

namespace {

using Pair = std::vector<RRef<Tensor>>;

RRef<Pair> make_pair_of(const Rank& rank) {
  return remote<Pair>(next_worker(rank), "nested_rref", next_worker(rank, 2));
}

void expect_pair(const RRef<Pair>& made) {
  const Pair pair = made.to_here();
  DISTRUN_REQUIRE(pair.size() == 2u);
  DISTRUN_EXPECT(what_differs(pair[0].to_here(), square(2, 2)) == "");
  DISTRUN_EXPECT(what_differs(pair[1].to_here(), square(2, 3)) == "");
}

}  // namespace

DISTRUN_TEST_F(RpcTest, nested_remote) {
  const auto sum = remote(next_worker(rank), nested_remote, next_worker(rank, 2));
  DISTRUN_EXPECT(what_differs(sum.to_here(), square(2, 4)) == "");
}

DISTRUN_TEST_F(RpcTest, nested_rref) { expect_pair(make_pair_of(rank)); }

DISTRUN_TEST_F(RpcTest, nested_rref_stress) {
  std::vector<RRef<Pair>> made;
  for (int i = 0; i < 20; ++i) made.push_back(make_pair_of(rank));
  for (const RRef<Pair>& each : made) expect_pair(each);
}

DISTRUN_TEST_F(RpcTest, rpc_return_rref) {
  const RRef<Tensor> sum = rpc_sync(next_worker(rank), rpc_return_rref, next_worker(rank, 2));
  DISTRUN_EXPECT(sum.owner_name() == next_worker(rank, 2));
  DISTRUN_EXPECT(what_differs(sum.to_here(), square(2, 2)) == "");
}

DISTRUN_TEST_F(RpcTest, rref_forward_chain) {
  constexpr int kLength = 8;
  const std::int64_t n = n_of(rank);
  const auto first = remote<Tensor>(next_worker(rank), "add", square(n), 1);
  rpc::Value link = rref_forward_chain(next_rank(rank), rank.world_size(), first, kLength);
  for (int i = 0; i < kLength; ++i) {
    const auto next = rpc::from_value<std::vector<RRef<rpc::Value>>>(link);
    DISTRUN_REQUIRE(next.size() == 1u);
    link = next.front().to_here();
  }
  DISTRUN_EXPECT(what_differs(rpc::from_value<Tensor>(link), square(n, 2)) == "");
}

DISTRUN_TEST_F(RpcTest, return_local_rrefs) {
  const auto objects = rpc_sync(next_worker(rank), get_rref_list, std::vector<std::int64_t>{1, 2, 3});
  std::vector<std::int64_t> values;
  for (const RRef<MyClass>& each : objects) {
    rpc_sync(each.owner(), "call_method_on_rref", rpc::FunctionName{"MyClass.increment_value"}, each, 10);
    values.push_back(
        rpc_sync<std::int64_t>(each.owner(), "call_method_on_rref", rpc::FunctionName{"MyClass.get_value"}, each));
  }
  DISTRUN_EXPECT(values == std::vector<std::int64_t>({11, 12, 13}));
}
