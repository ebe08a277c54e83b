// Contexts' records of calls, arguments and reached workers; and their release on every worker.
#include <distrun/runtime/autograd/accumulate_grad.hpp>

#include "scenarios.hpp"

using namespace distrun;
using namespace distrun::suites;
using dist_autograd::ContextScope;

namespace {

// Nothing requires a gradient; the callee still knows the context.
void check_without_gradients(Rank& rank, ExecMode mode, const Pair& pair) {
  open_group(rank);
  const ContextScope context;
  call_in_mode(mode, next_worker(rank), "add", pair.t1, pair.t2);
  rpc_sync(next_worker(rank), set_rpc_done, context.id(), 1);
  DISTRUN_EXPECT(dist_autograd::current_context()->send_functions().empty());
  DISTRUN_EXPECT(dist_autograd::current_context()->recv_functions().empty());
  const ContextId told = await_ctx_id(1);
  DISTRUN_EXPECT(dist_autograd::retrieve_context(told)->context_id() == told);
  group_barrier();  // no rank ends its context before all have looked
}

// The value is computed without a context; fetching it makes the context known at its owner.
void check_fetch_without_gradients(Rank& rank, const Pair& pair) {
  const auto there = remote<Tensor>(next_worker(rank), "add", pair.t1, pair.t2);
  there.creation().wait();
  const ContextScope context;
  there.to_here();
  rank.send(next_rank(rank), "context", std::to_string(context.id()));
  const ContextId told = std::stoll(rank.receive(next_rank(rank, 3), "context"));
  DISTRUN_EXPECT(dist_autograd::retrieve_context(told)->context_id() == told);
  group_barrier();  // no rank ends its context before all have looked
}

TensorList sent_leaves(const dist_autograd::Context& context) {
  const auto sends = context.send_functions();
  DISTRUN_REQUIRE(sends.size() == 1u);
  TensorList leaves;
  for (const autograd::Edge& edge : sends.begin()->second->next_edges()) {
    DISTRUN_REQUIRE(edge.node != nullptr);
    DISTRUN_EXPECT(edge.node->name() == "torch::autograd::AccumulateGrad");
    const auto* const accumulator = dynamic_cast<const autograd::AccumulateGrad*>(edge.node.get());
    DISTRUN_REQUIRE(accumulator != nullptr);
    leaves.push_back(accumulator->variable());
  }
  return leaves;
}

// A list in which every second tensor requires a gradient.
template <class MakeTensor>
void check_list(const Rank& rank, ExecMode mode, const MakeTensor& make_tensor) {
  const ContextScope context;
  TensorList tensors;
  for (int i = 0; i < 10; ++i) tensors.push_back(make_tensor(i % 2 == 0));
  const Tensor stacked = call_in_mode(mode, next_worker(rank), "stack", tensors);
  DISTRUN_EXPECT(stacked.sizes() == Dims({10, 3, 3}));
  DISTRUN_EXPECT(what_differs(stacked, stack(tensors)) == "");
  const auto current = dist_autograd::current_context();
  const TensorList leaves = sent_leaves(*current);
  DISTRUN_REQUIRE(leaves.size() == 5u);
  for (std::size_t i = 0; i < leaves.size(); ++i) DISTRUN_EXPECT(leaves[i].is_same(tensors[2 * i]));
  DISTRUN_EXPECT(current->known_worker_ids() == std::set<rpc::WorkerId>{next_rank(rank)});
}

Tensor dense(bool requires_grad) { return set_requires_grad(ones({3, 3}), requires_grad); }
Tensor sparse(bool requires_grad) { return sparse_leaf(requires_grad); }

// `call` makes calls in that context. Afterwards, `known` contexts of other ranks are known here, and released.
template <class Call>
void check_cleanup(Rank& rank, std::size_t known, const Call& call) {
  open_group(rank);
  ContextId id = -1;
  {
    const ContextScope context;
    id = context.id();
    call(id);
  }
  DISTRUN_EXPECT(thrown_by([&] { dist_autograd::retrieve_context(id); }) ==
                 an_error("RuntimeError", "Could not find autograd context with id: " + std::to_string(id)));
  group_barrier();  // all have sent their contexts
  DISTRUN_EXPECT(known_context_ids().size() == known);
  DISTRUN_EXPECT(all_contexts_cleaned_up());
}

void check_cleanup_of_nested_call(Rank& rank, const Pair& pair) {
  check_cleanup(rank, 2, [&](ContextId id) {
    rpc_sync(next_worker(rank), my_py_nested_call, pair.t1, pair.t2, next_rank(rank), rank.world_size(), 0);
    for (const int distance : {1, 2}) rpc_sync(next_worker(rank, distance), set_rpc_done, id, distance);
  });
}

void check_cleanup_of_sums(Rank& rank, const Pair& pair) {
  expect_contexts_cleaned_up(rank, [&](const std::string& to) { rpc_sync<Tensor>(to, "add", pair.t1, pair.t2); });
}

}  // namespace

void distrun::suites::expect_contexts_cleaned_up(Rank& rank, const std::function<void(const std::string& to)>& call) {
  check_cleanup(rank, 3, [&](ContextId id) {
    for (const int distance : {1, 2, 3}) {
      call(next_worker(rank, distance));
      rpc_sync(next_worker(rank, distance), set_rpc_done, id, 1);
    }
  });
}

DISTRUN_TEST_F(DistAutogradTest, no_graph_with_tensors_not_require_grad) {
  check_without_gradients(rank, ExecMode::RpcSync, ones_and_zeros(false));
}
DISTRUN_TEST_F(DistAutogradTest, no_graph_with_tensors_not_require_grad_remote) {
  check_without_gradients(rank, ExecMode::Remote, ones_and_zeros(false));
  check_fetch_without_gradients(rank, ones_and_zeros(false));
}
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, no_graph_with_tensors_not_require_grad_sparse) {
  check_without_gradients(rank, ExecMode::RpcSync, sparse_pair(false));
}
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, no_graph_with_tensors_not_require_grad_remote_sparse) {
  check_without_gradients(rank, ExecMode::Remote, sparse_pair(false));
}

DISTRUN_TEST_F(DistAutogradTest, rpc_complex_args) { check_list(rank, ExecMode::RpcSync, dense); }
DISTRUN_TEST_F(DistAutogradTest, remote_complex_args) { check_list(rank, ExecMode::Remote, dense); }
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, rpc_complex_args_sparse) {
  check_list(rank, ExecMode::RpcSync, sparse);
}
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, remote_complex_args_sparse) {
  check_list(rank, ExecMode::Remote, sparse);
}

DISTRUN_TEST_F(DistAutogradTest, context_cleanup_tensor_with_grad) { check_cleanup_of_sums(rank, ones_and_zeros()); }
DISTRUN_TEST_F(DistAutogradTest, context_cleanup_tensor_no_grad) {
  const Tensor t1 = ones({3, 3});
  check_cleanup_of_sums(rank, {t1, t1});
}
DISTRUN_TEST_F(DistAutogradTest, context_cleanup_nested_rpc) { check_cleanup_of_nested_call(rank, ones_and_zeros()); }
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, context_cleanup_tensor_with_grad_sparse) {
  check_cleanup_of_sums(rank, sparse_pair());
}
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, context_cleanup_tensor_no_grad_sparse) {
  const Tensor t1 = sparse_leaf(false);
  check_cleanup_of_sums(rank, {t1, t1});
}
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, context_cleanup_nested_rpc_sparse) {
  check_cleanup_of_nested_call(rank, sparse_pair());
}
