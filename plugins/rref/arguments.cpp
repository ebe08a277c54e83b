// References as arguments: of calls to their owner, to others, and of calls that create references.
#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;

namespace {

// A reference to the value 5, owned by this worker.
RRef<Tensor> of_self() { return remote<Tensor>(rpc::get_worker_info(), "my_function", ones({2, 2}), 1, 3); }

void expect_adds_in_calls(const rpc::Destination& whom) {
  const auto own = of_self();
  const auto later = rpc_async<Tensor>(whom, "add_rref_to_value", own, ones({2, 2}));
  const Tensor at_once = rpc_sync<Tensor>(whom, "add_rref_to_value", own, ones({2, 2}) + 1);
  DISTRUN_EXPECT(what_differs(at_once, square(2, 7)) == "");
  DISTRUN_EXPECT(what_differs(later.wait(), square(2, 6)) == "");
}

void expect_adds_there(const rpc::Destination& whom) {
  const auto own = of_self();
  const auto sum = remote<Tensor>(whom, "add_rref_to_value", own, ones({2, 2}));
  DISTRUN_EXPECT(what_differs(sum.to_here(), square(2, 6)) == "");
}

}  // namespace

DISTRUN_TEST_F(RpcTest, self_remote_rref_as_rpc_arg) { expect_adds_in_calls(next_worker(rank)); }
DISTRUN_TEST_F(RpcTest, self_remote_rref_as_self_rpc_arg) { expect_adds_in_calls(rpc::get_worker_info()); }
DISTRUN_TEST_F(RpcTest, self_remote_rref_as_remote_arg) { expect_adds_there(next_worker(rank)); }
DISTRUN_TEST_F(RpcTest, self_remote_rref_as_self_remote_arg) { expect_adds_there(rpc::get_worker_info()); }

DISTRUN_TEST_F(RpcTest, py_rref_args) {
  const std::string peer = next_worker(rank);
  const auto a = remote<Tensor>(peer, "add", ones({2, 2}), 1);
  const auto b = remote<Tensor>(peer, "add", ones({2, 2}), 2);
  const auto c = remote(peer, my_rref_function, a, b);
  DISTRUN_EXPECT(what_differs(c.to_here(), square(2, 5)) == "");
}

// A third worker gets them from their owner.
DISTRUN_TEST_F(RpcTest, py_rref_args_user_share) {
  const std::string owner = next_worker(rank), user = next_worker(rank, 2);
  const auto a = remote<Tensor>(owner, "my_function", ones({2, 2}), 1, 2);
  const auto b = remote<Tensor>(owner, "my_function", ones({2, 2}), 3, 4);
  const auto c = remote(user, my_rref_function, a, b);
  DISTRUN_EXPECT(what_differs(c.to_here(), square(2, 12)) == "");
}

DISTRUN_TEST_F(RpcTest, py_rpc_rref_args) {
  const std::string peer = next_worker(rank);
  const auto a = remote<Tensor>(peer, "my_function", ones({2, 2}), 1, 2);
  const auto b = remote<Tensor>(peer, "my_function", ones({2, 2}), 3, 4);
  DISTRUN_EXPECT(what_differs(rpc_sync(peer, my_rref_function, a, b), square(2, 12)) == "");
}

DISTRUN_TEST_F(RpcTest, pass_local_rrefs) {
  const std::string peer = next_worker(rank);
  const RRef<std::int64_t> local(40);
  DISTRUN_EXPECT(rpc_sync<std::int64_t>(peer, "add_rref_to_value", local, 50) == 90);
  DISTRUN_EXPECT(rpc_async<std::int64_t>(peer, "add_rref_to_value", local, 50).wait() == 90);
  DISTRUN_EXPECT(remote<std::int64_t>(peer, "add_rref_to_value", local, 50).to_here() == 90);
}

DISTRUN_TEST_F(RpcTest, remote_same_worker) {
  const std::string peer = next_worker(rank);
  const std::int64_t n = n_of(rank);
  const auto a = remote<Tensor>(peer, "add", square(n), 2);
  const auto b = remote<Tensor>(peer, "add", square(n), 1);
  const auto c = remote(peer, my_rref_function, a, b);
  DISTRUN_EXPECT(what_differs(c.to_here(), square(n, 5)) == "");
}

DISTRUN_TEST_F(RpcTest, call_method_on_rref) {
  const auto object = remote<MyClass>(next_worker(rank), "MyClass", 10);
  const rpc::FunctionName increment{"MyClass.increment_value"}, get{"MyClass.get_value"};
  DISTRUN_EXPECT(rpc_sync(object.owner(), "call_method_on_rref", increment, object, 2).is_none());
  DISTRUN_EXPECT(rpc_async(object.owner(), "call_method_on_rref", increment, object, 5).wait().is_none());
  DISTRUN_EXPECT(remote(object.owner(), "call_method_on_rref", increment, object, 7).to_here().is_none());
  DISTRUN_EXPECT(rpc_sync<std::int64_t>(object.owner(), "call_method_on_rref", get, object) == 24);
}
