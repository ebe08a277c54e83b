// Passes over sequential and nested calls of several workers.
#include "scenarios.hpp"

using namespace distrun;
using namespace distrun::suites;
using dist_autograd::ContextScope;

namespace {

struct Five {
  Tensor t1, t2, t3, t4, t5;  // the second and the fourth require no gradient
};

// Each step runs on another worker. The loss is the sum of what `combine` makes of two stacks.
template <class Combine>
void check_round_trips(const Rank& rank, const Five& five, const Combine& combine) {
  verify_in_modes(rank, {ExecMode::Local, ExecMode::RpcSync, ExecMode::Remote},
                  {five.t1, five.t2, five.t3, five.t4, five.t5}, [&](Exec& exec) {
                    const Tensor added = exec("add", five.t1, five.t2);
                    const Tensor product = exec("mul", five.t3, added);
                    const Tensor s1 = exec("stack", TensorList{five.t4, product});
                    const Tensor s2 = exec("stack", TensorList{five.t5, product});
                    return TensorList{sum(combine(exec, s1, s2))};
                  });
  for (const Tensor& each : {five.t1, five.t3, five.t5}) DISTRUN_EXPECT(grad(each).defined());
  for (const Tensor& each : {five.t2, five.t4}) DISTRUN_EXPECT(!grad(each).defined());
}

void check_nested_passes(const Rank& rank, const Pair& pair) {
  const ContextScope context;
  const Tensor loss =
      sum(rpc_sync(next_worker(rank), test_nested_backward_accumulate_grads, pair.t1, pair.t2, next_rank(rank, 2)));
  dist_autograd::backward(context.id(), {loss}, {.retain_graph = true});
  dist_autograd::backward(context.id(), {loss});
  backward(sum(add(pair.t1, pair.t2)));
  expect_gradient(context.id(), pair.t1, grad(pair.t1) * 2);
  expect_gradient(context.id(), pair.t2, grad(pair.t2) * 2);
}

// The middle worker computes as well.
void check_nested_formula(const Rank& rank, const Pair& pair) {
  const auto& [t1, t2] = pair;
  const Tensor t3 = t1 * t2, t4 = t1 + t2;
  const Tensor res = t3 + t4;
  backward(sum(t1 * t2 * t3 * t4 * res));
  const ContextScope context;
  const Tensor there = rpc_sync(next_worker(rank), nested_python_udf, t1, t2, next_rank(rank, 2));
  dist_autograd::backward(context.id(), {sum(there)});
  expect_gradient(context.id(), t1, grad(t1));
  expect_gradient(context.id(), t2, grad(t2));
}

}  // namespace

DISTRUN_TEST_F(DistAutogradTest, backward_multiple_round_trips) {
  const Pair first = random_pair(), second = random_pair();
  const Five five{first.t1, rand({3, 3}), first.t2, rand({3, 3}), second.t1};
  check_round_trips(rank, five, [](Exec& exec, const Tensor& s1, const Tensor& s2) {
    const Tensor product = exec("bmm", s1, s2);
    return exec("matmul", product, product);
  });
}
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, backward_multiple_round_trips_sparse) {
  const Five five{sparse_leaf(), sparse_leaf(false), sparse_leaf(), sparse_leaf(false), sparse_leaf()};
  check_round_trips(rank, five, [](Exec& exec, const Tensor& s1, const Tensor& s2) {
    const Tensor product = exec("mul", s1, s2);
    return exec("mul", product, product);
  });
}

DISTRUN_TEST_F(DistAutogradTest, nested_backward_accumulate_grads) { check_nested_passes(rank, random_pair()); }
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, nested_backward_accumulate_grads_sparse) {
  check_nested_passes(rank, sparse_pair());
}

DISTRUN_TEST_F(DistAutogradTest, backwards_nested_python_udf) { check_nested_formula(rank, random_pair()); }
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, backwards_nested_python_udf_sparse) {
  check_nested_formula(rank, sparse_pair());
}
