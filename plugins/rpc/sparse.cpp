// Sparse tensors in calls.
#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;

DISTRUN_TEST_F(TensorPipeAgentRpcTest, multi_rpc_sparse) {
  for (int i = 0; i < 20; ++i) {
    const std::int64_t n = i + n_of(rank);
    const Tensor x = build_sparse_tensor() * n;
    const Tensor y = build_sparse_tensor() * n;
    DISTRUN_EXPECT(what_differs(rpc_sync<Tensor>(next_worker(rank), "add", x, y), x * 2) == "");
  }
}

DISTRUN_TEST_F(TensorPipeAgentRpcTest, py_sparse_tensors_in_container) {
  const Tensor tensor = build_sparse_tensor();
  const Tensor sum = rpc_sync(next_worker(rank), my_container_sum, std::vector{tensor, tensor});
  DISTRUN_EXPECT(what_differs(tensor, build_sparse_tensor()) == "");
  DISTRUN_EXPECT(what_differs(sum, build_sparse_tensor() * 2) == "");
  DISTRUN_EXPECT(what_differs(sum, my_container_sum({tensor, tensor})) == "");
}

DISTRUN_TEST_F(TensorPipeAgentRpcTest, nested_rpc_sparse) {
  const Tensor sum = rpc_sync(next_worker(rank), nested_rpc_sparse, rpc::get_worker_info().name());
  DISTRUN_EXPECT(what_differs(sum, build_sparse_tensor() * 2) == "");
}

DISTRUN_TEST_F(TensorPipeAgentRpcTest, stress_heavy_rpc_sparse) {
  std::vector<Future<std::int64_t>> futures;
  for (int i = 0; i < 20; ++i) futures.push_back(rpc_async(next_worker(rank), heavy_rpc_sparse, build_sparse_tensor()));
  DISTRUN_EXPECT(wait_all(futures) == std::vector<std::int64_t>(20, 0));
}
