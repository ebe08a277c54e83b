// Passes over calls that reach one worker each: their gradients equal those of a pass on one worker.
#include "scenarios.hpp"

using namespace distrun;
using namespace distrun::suites;
using dist_autograd::ContextScope;

namespace {

const std::vector<ExecMode> kRemote{ExecMode::Local, ExecMode::Remote};
const std::vector<ExecMode> kAll{ExecMode::Local, ExecMode::RpcSync, ExecMode::RpcAsync, ExecMode::Remote};

template <class Callable>
void check_sum(const Rank& rank, const std::vector<ExecMode>& modes, Callable callable, const Pair& pair) {
  verify_in_modes(rank, modes, {pair.t1, pair.t2},
                  [&](Exec& exec) { return TensorList{sum(exec(callable, pair.t1, pair.t2))}; });
}

// Always calls that worker, instead of the next one.
void check_sum_at(const Rank& rank, const std::string& worker, const Pair& pair) {
  verify_in_modes(rank, kInTurn, {pair.t1, pair.t2}, [&](Exec& exec) {
    return TensorList{sum(call_in_mode(exec.mode(), worker, "add", pair.t1, pair.t2))};
  });
}

// Gradients of float32 and of float64.
void check_dtypes(const Rank& rank, const Pair& pair) {
  check_sum(rank, kRemote, "add", pair);
  DISTRUN_EXPECT((grad(pair.t1).dtype() == DType::F32));
  DISTRUN_EXPECT((grad(pair.t2).dtype() == DType::F64));
}

// grad() only has the gradients of passes on this worker.
void check_grad_stays(const Rank& rank, const Pair& pair, ExecMode mode = ExecMode::RpcSync) {
  const ContextScope context;
  const Tensor loss = sum(call_in_mode(mode, next_worker(rank), "add", pair.t1, pair.t2));
  dist_autograd::backward(context.id(), {loss}, {.retain_graph = true});
  DISTRUN_EXPECT(!grad(pair.t1).defined());
  DISTRUN_EXPECT(!grad(pair.t2).defined());
  backward(sum(add(pair.t1, pair.t2)));
  DISTRUN_REQUIRE(grad(pair.t1).defined());
  DISTRUN_REQUIRE(grad(pair.t2).defined());
  const Tensor before1 = clone(grad(pair.t1)), before2 = clone(grad(pair.t2));
  dist_autograd::backward(context.id(), {loss});
  DISTRUN_EXPECT(what_differs(grad(pair.t1), before1) == "");
  DISTRUN_EXPECT(what_differs(grad(pair.t2), before2) == "");
}

void check_many_passes(const Rank& rank, const Pair& pair) {
  constexpr int kPasses = 1000;
  const ContextScope context;
  const Tensor loss = sum(rpc_sync<Tensor>(next_worker(rank), "add", pair.t1, pair.t2));
  for (int i = 0; i < kPasses; ++i) dist_autograd::backward(context.id(), {loss}, {.retain_graph = true});
  backward(sum(add(pair.t1, pair.t2)));
  expect_gradient(context.id(), pair.t1, grad(pair.t1) * kPasses);
  expect_gradient(context.id(), pair.t2, grad(pair.t2) * kPasses);
}

// The requirement of a gradient is sent with a tensor: here the second has none.
void check_mixed(const Rank& rank, const Pair& pair) {
  Exec exec(rank);
  for (const ExecMode mode : {ExecMode::RpcSync, ExecMode::Remote}) {
    exec.use(mode);
    const ContextScope context;
    const Tensor product = exec(mixed_requires_grad_operation, pair.t1, pair.t2);
    DISTRUN_EXPECT(what_differs(product, pair.t1 * pair.t2) == "");
    dist_autograd::backward(context.id(), {sum(product)});
    DISTRUN_EXPECT(requires_grad(pair.t1));
    DISTRUN_EXPECT(!requires_grad(pair.t2));
    expect_gradient(context.id(), pair.t1, pair.t2);
    DISTRUN_EXPECT(!dist_autograd::get_gradients(context.id()).contains(pair.t2));
  }
}

}  // namespace

DISTRUN_TEST_F(DistAutogradTest, backward_no_grad_on_tensor) { check_grad_stays(rank, random_pair()); }
DISTRUN_TEST_F(DistAutogradTest, backward_simple) { check_sum_at(rank, next_worker(rank), random_pair()); }
DISTRUN_TEST_F(DistAutogradTest, backward_simple_self) {
  check_sum_at(rank, std::string(rank.worker_name()), random_pair());
}
DISTRUN_TEST_F(DistAutogradTest, backward_different_dtypes) {
  check_dtypes(rank, {set_requires_grad(rand({3, 3})), set_requires_grad(rand({3, 3}, {.dtype = DType::F64}))});
}
DISTRUN_TEST_F(DistAutogradTest, backward_simple_python_udf) { check_sum(rank, kRemote, my_py_add, random_pair()); }
DISTRUN_TEST_F(DistAutogradTest, backward_simple_script_call) { check_sum(rank, kAll, my_script_add(), random_pair()); }
DISTRUN_TEST_F(DistAutogradTest, mixed_requires_grad) {
  check_mixed(rank, {set_requires_grad(rand({3, 3})), rand({3, 3})});
}
DISTRUN_TEST_F(DistAutogradTest, multiple_backward) { check_many_passes(rank, random_pair()); }

DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, backward_no_grad_on_tensor_sparse) {
  check_grad_stays(rank, sparse_pair());
}
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, backward_no_grad_on_tensor_remote_sparse) {
  check_grad_stays(rank, sparse_pair(), ExecMode::Remote);
}
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, backward_simple_sparse) {
  check_sum_at(rank, next_worker(rank), sparse_pair());
}
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, backward_simple_self_sparse) {
  check_sum_at(rank, std::string(rank.worker_name()), sparse_pair());
}
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, backward_different_dtypes_sparse) {
  check_dtypes(rank, {sparse_leaf(), sparse_leaf(true, DType::F64)});
}
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, backward_simple_python_udf_sparse) {
  check_sum(rank, kInTurn, my_py_add, sparse_pair());
}
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, backward_simple_script_call_sparse) {
  check_sum(rank, kAll, my_script_add(), sparse_pair());
}
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, mixed_requires_grad_sparse) {
  check_mixed(rank, {sparse_leaf(), sparse_leaf(false)});
}
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, multiple_backward_sparse) { check_many_passes(rank, sparse_pair()); }
