// Graph functions, which are sent with the call.
#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;

DISTRUN_TEST_F(RpcTest, stress_heavy_rpc_torchscript) {
  const Graph heavy = heavy_rpc_torchscript();
  std::vector<Future<std::int64_t>> futures;
  for (int i = 0; i < 20; ++i) futures.push_back(rpc_async<std::int64_t>(next_worker(rank), heavy, square(100)));
  DISTRUN_EXPECT(wait_all(futures) == std::vector<std::int64_t>(20, 0));
}
