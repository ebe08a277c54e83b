// A server of a value, and trainers that open contexts in the calls that they get.
#include "scenarios.hpp"

using namespace distrun;
using namespace distrun::suites;

namespace {

// Checks the trainers' gradients of the value: each context has a separate one.
void expect_gradients_of_trainers(const RRef<Tensor>& own, const Tensor& expected) {
  std::set<ContextId> contexts;
  for (const std::int64_t distance : {1, 2, 3}) {
    const ContextId context = await_ctx_id(distance);
    const Tensor value = own.to_here();
    DISTRUN_EXPECT(value.is_same(own.local_value()));
    expect_gradient(context, value, expected);
    contexts.insert(context);
  }
  DISTRUN_EXPECT(contexts.size() == 3u);
}

}  // namespace

void distrun::suites::expect_trained(Rank& rank, Trainer trainer, const RRef<Tensor>& own, const Pair& pair) {
  backward(sum(add(pair.t1, pair.t2)));
  const std::string self(rank.worker_name());
  std::vector<Future<void>> trainers;
  for (const int distance : {1, 2, 3}) {
    trainers.push_back(
        rpc_async(next_worker(rank, distance), trainer, own, pair.t2, self, distance, pair.t2.is_sparse()));
  }
  for (const std::int64_t distance : {1, 2, 3}) check_rpc_done(distance);
  expect_gradients_of_trainers(own, grad(pair.t1));
  set_rpc_done({}, 0);
  wait_all(trainers);
}

DISTRUN_TEST_F(DistAutogradTest, trainer_ps) {
  expect_trained(rank, run_trainer, remote(std::string(rank.worker_name()), create_tensor), ones_and_zeros());
}

DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, trainer_ps_sparse) {
  expect_trained(rank, run_trainer, remote<Tensor>(std::string(rank.worker_name()), "build_sparse_leaf"),
                 sparse_pair());
}
