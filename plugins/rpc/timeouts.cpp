// Timeouts of calls: the session's default, and the call's own.
#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;

DISTRUN_TEST(RpcTest, set_and_get_default_rpc_timeout) {
  rank.barrier("all have begun");
  const auto options = rpc_options(rank);
  options->rpc_timeout = 0.5;
  start_rpc(rank, options);
  DISTRUN_EXPECT(rpc::get_rpc_timeout() == 0.5);
  rpc::shutdown();
}

DISTRUN_TEST_F(RpcTest, default_timeout_used) {
  const std::string peer = next_worker(rank);
  rpc::set_rpc_timeout(0.001);
  std::vector<Future<void>> futures;
  for (int i = 0; i < 10; ++i) futures.push_back(rpc_async(peer, my_sleep_func, 1));
  for (const auto& each : futures) DISTRUN_EXPECT(thrown_by([&] { each.wait(); }) == a_timeout());

  // A call has the timeout that applies when it is made.
  rpc::set_rpc_timeout(200);
  const auto patient = rpc_async(peer, my_sleep_func, 1);
  rpc::set_rpc_timeout(0.001);
  const auto hasty = rpc_async(peer, my_sleep_func, 1);
  DISTRUN_EXPECT(thrown_by([&] { hasty.wait(); }) == a_timeout());
  patient.wait();

  rpc::set_rpc_timeout(0);
  rpc_async(peer, my_sleep_func, 1).wait();
  rpc::set_rpc_timeout(rpc::kDefaultRpcTimeoutSeconds);
  DISTRUN_EXPECT(rpc::get_rpc_timeout() == 60);
}

DISTRUN_TEST_F(RpcTest, rpc_timeouts) {
  const std::string peer = next_worker(rank);
  const auto within = [&](double seconds) { return to(peer).within(seconds); };
  DISTRUN_EXPECT(thrown_by([&] { rpc_async(within(0.1), my_sleep_func, 1).wait(); }) == a_timeout());
  rpc_async(peer, my_sleep_func, 1).wait();
  DISTRUN_EXPECT(thrown_by([&] { rpc_sync(within(0.1), my_sleep_func, 1); }) == a_timeout());
  rpc_sync(peer, my_sleep_func, 1);

  rpc::set_rpc_timeout(0.001);
  DISTRUN_EXPECT(thrown_by([&] { rpc_async(peer, my_sleep_func, 1).wait(); }) == a_timeout());
  DISTRUN_EXPECT(thrown_by([&] { rpc_sync(peer, my_sleep_func, 1); }) == a_timeout());
  rpc_async(within(5), my_sleep_func, 1).wait();
  rpc_sync(within(5), my_sleep_func, 1);
  rpc_async(within(0), my_sleep_func, 1).wait();
  rpc_sync(within(0), my_sleep_func, 1);
  rpc::set_rpc_timeout(rpc::kDefaultRpcTimeoutSeconds);
}
