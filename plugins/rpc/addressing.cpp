// Identities of workers, and how a call names its target.
#include <set>

#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;

DISTRUN_SUITE(RpcTest, .world_size = fixed(4));

DISTRUN_TEST_F(RpcTest, worker_id) {
  const std::string peer = next_worker(rank);
  DISTRUN_EXPECT(rpc::get_worker_info().name() == rank.worker_name());
  DISTRUN_EXPECT(rpc::get_worker_info().id() == rank.rank());
  DISTRUN_EXPECT(rpc::get_worker_info(peer).name() == peer);
  DISTRUN_EXPECT(thrown_by([] { rpc::get_worker_info("WorkerUnknown"); }) ==
                 an_error("RuntimeError", "could not find destination"));
}

DISTRUN_TEST_F(RpcTest, get_worker_infos) {
  const std::vector<WorkerInfo> workers = rpc::current_agent()->worker_infos();
  std::set<std::string> names;
  std::set<int> ids;
  for (const WorkerInfo& each : workers) {
    names.insert(each.name());
    ids.insert(each.id());
  }
  DISTRUN_EXPECT(workers.size() == 4u);
  DISTRUN_EXPECT(names == std::set<std::string>({"worker0", "worker1", "worker2", "worker3"}));
  DISTRUN_EXPECT(ids == std::set<int>({0, 1, 2, 3}));
}

DISTRUN_TEST_F(RpcTest, self_add) {
  const WorkerInfo self = rpc::get_worker_info();
  const auto future = rpc_async<Tensor>(self, "add", ones({2, 2}), 1);
  const Tensor at_once = rpc_sync<Tensor>(self, "add", ones({2, 2}), 1);
  DISTRUN_EXPECT(what_differs(at_once, square(2, 2)) == "");
  DISTRUN_EXPECT(what_differs(future.wait(), square(2, 2)) == "");
}

DISTRUN_TEST(RpcTest, invalid_names) {
  DISTRUN_EXPECT(thrown_by([] { WorkerInfo("abc*", 0); }) == an_error("RuntimeError", "Worker name must match"));
  DISTRUN_EXPECT(thrown_by([] { WorkerInfo(" ", 0); }) == an_error("RuntimeError", "Worker name must match"));
  DISTRUN_EXPECT(thrown_by([] { WorkerInfo("", 0); }) == an_error("RuntimeError", "must be non-empty"));
  DISTRUN_EXPECT(thrown_by([] { WorkerInfo(std::string(500, 'a'), 0); }) ==
                 an_error("RuntimeError", "shorter than 128"));
  DISTRUN_EXPECT(WorkerInfo(std::string(127, 'a'), 0).name().size() == 127u);
}

DISTRUN_TEST_F(RpcTest, worker_info_pickle) {
  const WorkerInfo self = rpc::get_worker_info();
  DISTRUN_EXPECT(rpc_sync<WorkerInfo>(next_worker(rank), "identity", self) == self);
}

DISTRUN_TEST_F(RpcTest, int_callee) {
  const int peer = next_rank(rank);
  DISTRUN_EXPECT(rpc_sync(peer, RpcTestFunctions::return_callee_id) == peer);
}

DISTRUN_TEST_F(RpcTest, add_with_id) {
  const std::int64_t n = n_of(rank);
  const WorkerInfo peer = rpc::get_worker_info(next_worker(rank));
  DISTRUN_EXPECT(what_differs(rpc_sync<Tensor>(peer, "add", square(n), square(n)), square(n, 2)) == "");
}
