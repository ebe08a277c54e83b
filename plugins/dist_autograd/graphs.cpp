// The nodes that a call leaves in the graphs of a context, at the caller and at the callee.
#include <distrun/runtime/autograd/accumulate_grad.hpp>

#include "scenarios.hpp"

using namespace distrun;
using namespace distrun::suites;
using dist_autograd::ContextScope;
using dist_autograd::RecvNode;
using dist_autograd::SendNode;
using tensor::Ref;

namespace {

constexpr const char* kRecvName = "torch::distributed::autograd::RecvRpcBackward";

// Returns the nodes in the order of their messages' numbers.
template <class Node>
std::vector<Ref<Node>> in_order(const std::map<dist_autograd::MessageId, Ref<Node>>& nodes) {
  std::vector<Ref<Node>> found;
  for (const auto& [id, node] : nodes) found.push_back(node);
  return found;
}
std::vector<Ref<SendNode>> sends_of(ContextId id) {
  return in_order(dist_autograd::retrieve_context(id)->send_functions());
}
std::vector<Ref<RecvNode>> recvs_of(ContextId id) {
  return in_order(dist_autograd::retrieve_context(id)->recv_functions());
}

void expect_accumulates_into(const autograd::Edge& edge, const Tensor& leaf) {
  DISTRUN_EXPECT(edge.node->name() == "torch::autograd::AccumulateGrad");
  DISTRUN_EXPECT(edge.input == 0u);
  const auto* const accumulator = dynamic_cast<const autograd::AccumulateGrad*>(edge.node.get());
  DISTRUN_REQUIRE(accumulator != nullptr);
  DISTRUN_EXPECT(accumulator->variable().is_same(leaf));
}

void expect_sent_leaves(const SendNode& send, const TensorList& leaves) {
  DISTRUN_REQUIRE(send.next_edges().size() == leaves.size());
  for (std::size_t i = 0; i < leaves.size(); ++i) expect_accumulates_into(send.next_edges()[i], leaves[i]);
}

// Two tensors of one message.
void expect_made_of_one_message(const autograd::Node& node) {
  const auto& edges = node.next_edges();
  DISTRUN_REQUIRE(edges.size() == 2u);
  DISTRUN_EXPECT(edges[0].node->name() == kRecvName);
  DISTRUN_EXPECT(edges[1].node->name() == kRecvName);
  DISTRUN_EXPECT(edges[0].node.get() == edges[1].node.get());
}

// The answer is a sum of two tensors that arrived in one message.
void expect_answers_with_sum(const SendNode& send) {
  DISTRUN_REQUIRE(send.next_edges().size() == 1u);
  const autograd::Node& sum = *send.next_edges()[0].node;
  DISTRUN_EXPECT(sum.name() == "AddBackward0");
  expect_made_of_one_message(sum);
}

// This rank has forwarded what it got, and returned the result.
void expect_forwarded(ContextId id) {
  const auto sends = sends_of(id);
  DISTRUN_REQUIRE(sends.size() == 2u);
  expect_made_of_one_message(*sends[0]);
  DISTRUN_REQUIRE(sends[1]->next_edges().size() == 1u);
  DISTRUN_EXPECT(sends[1]->next_edges()[0].node->name() == kRecvName);
}

void expect_executed(ContextId id) {
  const auto sends = sends_of(id);
  DISTRUN_REQUIRE(sends.size() == 1u);
  expect_answers_with_sum(*sends[0]);
}

// The graph of this thread: `made` arrived as the answer for the pair.
void expect_own_graph(ContextId id, const Pair& pair, const Tensor& made) {
  DISTRUN_EXPECT(dist_autograd::current_context()->context_id() == id);
  const auto sends = sends_of(id);
  const auto recvs = recvs_of(id);
  DISTRUN_REQUIRE(sends.size() == 1u);
  DISTRUN_REQUIRE(recvs.size() == 1u);
  expect_sent_leaves(*sends[0], {pair.t1, pair.t2});
  DISTRUN_EXPECT(grad_fn(made).get() == recvs[0].get());
}

// The same, where the pair came back to this rank, which has computed the sum.
void expect_own_graph_with_sum(ContextId id, const Pair& pair, const Tensor& made) {
  DISTRUN_EXPECT(dist_autograd::current_context()->context_id() == id);
  const auto sends = sends_of(id);
  const auto recvs = recvs_of(id);
  DISTRUN_REQUIRE(sends.size() == 2u);
  DISTRUN_REQUIRE(recvs.size() == 2u);
  expect_sent_leaves(*sends[0], {pair.t1, pair.t2});
  DISTRUN_EXPECT(grad_fn(made).get() == recvs[1].get());
  expect_answers_with_sum(*sends[1]);
}

void expect_no_context(ContextId id) {
  DISTRUN_EXPECT(thrown_by([&] { dist_autograd::retrieve_context(id); }) ==
                 an_error("RuntimeError", "Could not find autograd context with id: " + std::to_string(id)));
  DISTRUN_EXPECT(thrown_by([] { dist_autograd::current_context(); }) ==
                 an_error("RuntimeError", "Current thread doesn't have a valid autograd context"));
}

// Contexts end after all ranks have looked, here and below.
template <class Callable>
void check_call(Rank& rank, ExecMode mode, Callable callable, const Pair& pair) {
  open_group(rank);
  ContextId id = -1;
  {
    const ContextScope context;
    id = context.id();
    const Tensor made = call_in_mode(mode, next_worker(rank), callable, pair.t1, pair.t2);
    rpc_sync(next_worker(rank), set_rpc_done, id, 1);
    expect_own_graph(id, pair, made);
    expect_executed(await_ctx_id(1));
    group_barrier();
  }
  expect_no_context(id);
}

// A call from one rank to the next, up to the rank before this one.
void check_nested_call(Rank& rank, ExecMode mode, const Pair& pair) {
  open_group(rank);
  const ContextScope context;
  const Tensor made =
      call_in_mode(mode, next_worker(rank), my_py_nested_call, pair.t1, pair.t2, next_rank(rank), rank.world_size(), 1);
  group_barrier();
  for (const int distance : {1, 2, 3}) rpc_sync(next_worker(rank, distance), set_rpc_done, context.id(), distance);
  group_barrier();
  expect_own_graph(context.id(), pair, made);
  expect_forwarded(ctx_id_at(1));
  expect_forwarded(ctx_id_at(2));
  expect_executed(ctx_id_at(3));
  group_barrier();
}

// A call to the next rank and back.
void check_nested_call_itself(Rank& rank, ExecMode mode, const Pair& pair) {
  open_group(rank);
  const ContextScope context;
  const Tensor made = call_in_mode(mode, next_worker(rank), my_py_nested_call, pair.t1, pair.t2, next_rank(rank, 3),
                                   rank.world_size(), 0);
  rpc_sync(next_worker(rank), set_rpc_done, context.id(), 1);
  expect_own_graph_with_sum(context.id(), pair, made);
  expect_forwarded(await_ctx_id(1));
  group_barrier();
}

}  // namespace

DISTRUN_SUITE(DistAutogradTest, .world_size = fixed(4));
DISTRUN_SUITE(TensorPipeAgentDistAutogradTest, .world_size = fixed(4));

DISTRUN_TEST_F(DistAutogradTest, graph_for_builtin_call) {
  check_call(rank, ExecMode::RpcSync, "add", ones_and_zeros());
}
DISTRUN_TEST_F(DistAutogradTest, graph_for_python_call) {
  check_call(rank, ExecMode::RpcSync, my_py_add, ones_and_zeros());
}
DISTRUN_TEST_F(DistAutogradTest, graph_for_builtin_remote_call) {
  check_call(rank, ExecMode::Remote, "add", ones_and_zeros());
}
DISTRUN_TEST_F(DistAutogradTest, graph_for_python_remote_call) {
  check_call(rank, ExecMode::Remote, my_py_add, ones_and_zeros());
}
DISTRUN_TEST_F(DistAutogradTest, graph_for_py_nested_call) {
  check_nested_call(rank, ExecMode::RpcSync, ones_and_zeros());
}
DISTRUN_TEST_F(DistAutogradTest, graph_for_py_nested_remote_call) {
  check_nested_call(rank, ExecMode::Remote, ones_and_zeros());
}
DISTRUN_TEST_F(DistAutogradTest, graph_for_py_nested_call_itself) {
  check_nested_call_itself(rank, ExecMode::RpcSync, ones_and_zeros());
}
DISTRUN_TEST_F(DistAutogradTest, graph_for_py_nested_remote_call_itself) {
  check_nested_call_itself(rank, ExecMode::Remote, ones_and_zeros());
}

DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, graph_for_builtin_call_sparse) {
  check_call(rank, ExecMode::RpcSync, "add", sparse_pair());
}
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, graph_for_python_call_sparse) {
  check_call(rank, ExecMode::RpcSync, my_py_add, sparse_pair());
}
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, graph_for_builtin_remote_call_sparse) {
  check_call(rank, ExecMode::Remote, "add", sparse_pair());
}
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, graph_for_python_remote_call_sparse) {
  check_call(rank, ExecMode::Remote, my_py_add, sparse_pair());
}
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, graph_for_py_nested_call_sparse) {
  check_nested_call(rank, ExecMode::RpcSync, sparse_pair());
}
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, graph_for_py_nested_remote_call_sparse) {
  check_nested_call(rank, ExecMode::Remote, sparse_pair());
}
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, graph_for_py_nested_call_itself_sparse) {
  check_nested_call_itself(rank, ExecMode::RpcSync, sparse_pair());
}
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, graph_for_py_nested_remote_call_itself_sparse) {
  check_nested_call_itself(rank, ExecMode::Remote, sparse_pair());
}
