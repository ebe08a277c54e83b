// A parameter server on each rank, trained by all others.
#include "suites.hpp"

#include "support/rref_callees_async.hpp"

using namespace distrun;
using namespace distrun::suites;

namespace {

void train_at_all_others(const Rank& rank, bool sparse) {
  const int others = rank.world_size() - 1;
  const RRef<ParameterServer> server(std::make_shared<ParameterServer>(others));
  std::vector<Future<void>> trained;
  for (int step = 1; step <= others; ++step) {
    trained.push_back(rpc_async(next_worker(rank, step), run_ps_trainer, server, sparse));
  }
  wait_all(trained);
  // Each trainer got the server's means; the server keeps the last one.
  for (const Future<void>& each : trained) DISTRUN_EXPECT(!each.failed());
  const Tensor last = ParameterServer::get_gradient(server);
  DISTRUN_EXPECT(last.is_sparse() == sparse);
  DISTRUN_EXPECT(last.sizes() == square(10).sizes());
}

}  // namespace

DISTRUN_TEST_F(RpcTest, my_parameter_server) { train_at_all_others(rank, false); }
DISTRUN_TEST_F(TensorPipeAgentRpcTest, my_parameter_server_sparse) { train_at_all_others(rank, true); }
