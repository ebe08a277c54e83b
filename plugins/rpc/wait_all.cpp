// Waiting for many calls: futures in a list, and all calls begun in a scope.
#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;
using rpc::WaitAllScope;

namespace {

void require_open_and_empty() {
  DISTRUN_REQUIRE(WaitAllScope::futures() != nullptr);
  DISTRUN_EXPECT(WaitAllScope::futures()->empty());
}
void expect_no_scope() { DISTRUN_EXPECT(WaitAllScope::futures() == nullptr); }

// One call blocks until an event of the callee, two fail: the wait ends before the first. All ranks set their events
// after all have seen that.
void expect_early_exit(Rank& rank, const std::function<Future<rpc::Value>(const std::string& peer)>& failing,
                       const WantedError& expected) {
  event().renew();
  open_group(rank);
  group_barrier();
  const std::string peer = next_worker(rank);
  const auto blocked = rpc_async(peer, "timed_out_rpc");
  const auto second = failing(peer);
  const auto third = failing(peer);
  DISTRUN_EXPECT(thrown_by([&] { wait_all(std::vector{blocked, second, third}); }) == expected);
  DISTRUN_EXPECT(!blocked.done());
  group_barrier();
  event().here()->set_result();
}

}  // namespace

DISTRUN_TEST_F(RpcTest, wait_all) {
  WaitAllScope scope;
  require_open_and_empty();
  const auto future = rpc_async(next_worker(rank), "add", square(2), 1);
  DISTRUN_REQUIRE(WaitAllScope::futures()->size() == 1u);
  DISTRUN_EXPECT(WaitAllScope::futures()->front().state() == future.state());
  scope.end();
  DISTRUN_EXPECT(future.done());
  DISTRUN_EXPECT(what_differs(rpc::from_value<Tensor>(future.value()), square(2, 2)) == "");
  expect_no_scope();
}

DISTRUN_TEST_F(RpcTest, wait_all_multiple_call) {
  WaitAllScope scope;
  require_open_and_empty();
  for (int i = 0; i < 20; ++i) {
    const auto future = rpc_async<Tensor>(next_worker(rank), "add", square(i), 1);
    const Tensor at_once = rpc_sync<Tensor>(next_worker(rank), "add", square(i), 1);
    DISTRUN_EXPECT(what_differs(future.wait(), square(i, 2)) == "");
    DISTRUN_EXPECT(what_differs(at_once, square(i, 2)) == "");
  }
  DISTRUN_EXPECT(WaitAllScope::futures()->size() == 20u);
  scope.end();
  expect_no_scope();
}

DISTRUN_TEST_F(RpcTest, wait_all_timeout) {
  WaitAllScope scope;
  require_open_and_empty();
  rpc_async(to(next_worker(rank)).within(0.1), my_sleep_func, 1);
  DISTRUN_EXPECT(thrown_by([&] { scope.end(); }) == a_timeout());
  expect_no_scope();
}

DISTRUN_TEST_F(RpcTest, wait_all_raise_in_user_func) {
  WaitAllScope scope;
  require_open_and_empty();
  rpc_async(next_worker(rank), raise_func);
  DISTRUN_EXPECT(thrown_by([&] { scope.end(); }) == an_error("ValueError", "Expected error"));
  expect_no_scope();
}

DISTRUN_TEST_F(RpcTest, wait_all_raise_in_body) {
  const auto body = [] {
    const WaitAllScope scope;
    require_open_and_empty();
    throw Error(ErrorKind::InvalidArgument, "ValueError", "of the body");
  };
  DISTRUN_EXPECT(thrown_by(body) == an_error("ValueError", "of the body"));
  expect_no_scope();
}

DISTRUN_TEST_F(RpcTest, wait_all_exit_early_python) {
  expect_early_exit(
      rank, [](const std::string& peer) { return rpc_async(peer, "raise_func"); },
      an_error("ValueError", "Expected error"));
}

DISTRUN_TEST_F(RpcTest, wait_all_exit_early_builtin) {
  expect_early_exit(
      rank, [](const std::string& peer) { return rpc_async(peer, "add", rand({10}), rand({5})); },
      an_error("RuntimeError", "size of tensor"));
}

// A graph function's error is always generic.
DISTRUN_TEST_F(RpcTest, wait_all_exit_early_script_function) {
  const auto raise = raise_func_script();
  expect_early_exit(
      rank, [raise](const std::string& peer) { return rpc_async(peer, raise, "Expected error"); },
      an_error("RuntimeError", "Expected error"));
}

DISTRUN_TEST_F(RpcTest, wait_all_with_exception) {
  std::vector<Future<void>> futures;
  for (int i = 0; i < 10; ++i) futures.push_back(rpc_async(next_worker(rank), raise_func));
  DISTRUN_EXPECT(thrown_by([&] { wait_all(futures); }) == an_error("ValueError", "Expected error"));
}

DISTRUN_TEST_F(RpcTest, wait_all_with_partial_exception) {
  std::vector<Future<rpc::Value>> futures;
  for (int i = 0; i < 10; ++i) futures.push_back(rpc_async(next_worker(rank), "add", ones({2}), 1));
  futures.push_back(rpc_async(next_worker(rank), "raise_func"));
  DISTRUN_EXPECT(thrown_by([&] { wait_all(futures); }) == an_error("ValueError", "Expected error"));
}
