// Passes over values that other workers own: their gradients are at their owners.
#include "scenarios.hpp"

using namespace distrun;
using namespace distrun::suites;
using dist_autograd::ContextScope;

namespace {

RRef<Tensor> make_leaf(const std::string& owner, bool sparse) {
  if (sparse) return remote(owner, build_sparse_leaf, false, true);
  return remote<Tensor>(owner, "torch_ones", std::vector<std::int64_t>{3, 3}, rpc::arg("requires_grad", true));
}

// `callee` adds to the value if it owns it, or else calls the owner.
RRef<Tensor> add_at(const std::string& callee, const std::string& owner, const RRef<Tensor>& value, const Tensor& t2) {
  if (callee == owner) return remote(callee, my_rref_add, value, t2);
  return remote(callee, my_nested_rref_add, owner, value, t2);
}

void check_gradient_at_owner(const std::string& callee, const std::string& owner, const Pair& pair) {
  backward(sum(add(pair.t1, pair.t2)));
  const ContextScope context;
  const RRef<Tensor> value = make_leaf(owner, pair.t1.is_sparse());
  const Tensor there = add_at(callee, owner, value, pair.t2).to_here();
  dist_autograd::backward(context.id(), {sum(there)});
  expect_gradient(context.id(), pair.t2, grad(pair.t2));
  DISTRUN_EXPECT(rpc_sync(owner, compare_owner_value, context.id(), value, grad(pair.t1)));
}

}  // namespace

DISTRUN_TEST_F(DistAutogradTest, backward_rref) {
  check_gradient_at_owner(next_worker(rank), next_worker(rank), random_pair());
}
DISTRUN_TEST_F(DistAutogradTest, backward_rref_multi) {
  if (rank.rank() == 0) return;  // it serves the others
  check_gradient_at_owner("worker0", "worker0", random_pair());
}
DISTRUN_TEST_F(DistAutogradTest, backward_rref_nested) {
  check_gradient_at_owner(next_worker(rank), next_worker(rank, 2), random_pair());
}

DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, backward_rref_sparse) {
  check_gradient_at_owner(next_worker(rank), next_worker(rank), sparse_pair());
}
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, backward_rref_multi_sparse) {
  if (rank.rank() == 0) return;  // it serves the others
  check_gradient_at_owner("worker0", "worker0", sparse_pair());
}
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, backward_rref_nested_sparse) {
  check_gradient_at_owner(next_worker(rank), next_worker(rank, 2), sparse_pair());
}

// Indices need no gradient, but the factors of the sums do: so a message exists that carries the gradients.
DISTRUN_TEST_F(TensorPipeAgentDistAutogradTest, embedding_bag_with_no_grad_tensors) {
  using rpc::arg;
  const auto remote_embedding =
      remote<EmbeddingBagObject>(next_worker(rank), "EmbeddingBag", 16, 16, arg("mode", "sum"), arg("sparse", true));
  EmbeddingBagObject local_embedding(16, 16, "sum", true);
  const Tensor input = from_values<std::int64_t>({1, 2, 4, 5, 4, 3, 2, 9});
  const Tensor offsets = from_values<std::int64_t>({0, 4});
  const Tensor factors = set_requires_grad(rand({8}));

  const Tensor local = local_embedding.forward(input, offsets, factors);
  backward(sum(local), {}, {.retain_graph = true});
  backward(sum(local));
  const Tensor local_grad = grad(local_embedding.weight());

  const ContextScope context;
  const Tensor there = rpc_sync(next_worker(rank), call_remote_embedding, remote_embedding, input, offsets, factors);
  dist_autograd::backward(context.id(), {sum(there)}, {.retain_graph = true});
  dist_autograd::backward(context.id(), {sum(there)});
  const Tensor remote_grad = rpc_sync(next_worker(rank), get_grad, remote_embedding, context.id());
  DISTRUN_REQUIRE(remote_grad.is_sparse());
  DISTRUN_EXPECT(what_differs(remote_grad, local_grad) == "");
  DISTRUN_EXPECT(to_vector<std::int64_t>(indices(coalesce(remote_grad))) ==
                 std::vector<std::int64_t>({1, 2, 3, 4, 5, 9}));
}
