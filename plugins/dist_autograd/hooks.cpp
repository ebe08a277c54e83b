// Code that runs within a pass: hooks of tensors and nodes, and functions that use the session or end the context.
#include <atomic>

#include "scenarios.hpp"
#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;
using dist_autograd::ContextScope;

namespace {

std::int64_t debug_number(const std::string& key) { return std::stoll(dist_autograd::debug_info().at(key)); }
std::int64_t current_passes() { return debug_number("num_current_backward_passes"); }
std::int64_t open_contexts() { return debug_number("num_autograd_contexts"); }

bool is_one_per_rank(std::int64_t count) { return count >= 1 && count <= 4; }

// Its backward() expects exactly one pass per rank.
struct TestDebugInfoFunc {
  static Tensor forward(FunctionContext& /*context*/, const Tensor& x) { return x; }
  static TensorList backward(FunctionContext& /*context*/, TensorList gradients) {
    if (is_one_per_rank(current_passes())) return gradients;
    throw Error(ErrorKind::Failed, "there are " + std::to_string(current_passes()) + " passes");
  }
};

const char* const kContextsStay = "contexts of other ranks stay";

// Its backward() waits for all ranks, ends the context of the pass, and waits until the others' contexts are gone.
struct MyBackwardFunc {
  static Tensor forward(FunctionContext& context, const Tensor& x, dist_autograd::ContextId id) {
    context.data["id"] = id;
    return x;
  }
  static TensorList backward(FunctionContext& context, TensorList gradients) {
    group_barrier();
    dist_autograd::release_context(std::get<std::int64_t>(context.data["id"]));
    if (!all_contexts_cleaned_up()) throw Error(ErrorKind::Failed, kContextsStay);
    return gradients;
  }
};

// Calls all other ranks in turn, each with the previous result.
Tensor add_at_others(const Rank& rank, Tensor sum, const Tensor& more) {
  for (int each = 0; each < rank.world_size(); ++each) {
    if (each != rank.rank()) sum = rpc_sync<Tensor>(rank.worker_name(each), "add", sum, more);
  }
  return sum;
}

void tell_others(const Rank& rank, dist_autograd::ContextId id) {
  for (int distance = 1; distance < rank.world_size(); ++distance) {
    rpc_sync(next_worker(rank, distance), set_rpc_done, id, distance);
  }
}

// A context that the other ranks know: a chain of `calls` calls, and then the function that ends the context.
struct Chain {
  std::shared_ptr<dist_autograd::Context> context;
  Tensor loss;
};
Chain chain_that_ends_context(Rank& rank, int calls) {
  open_group(rank);
  Chain chain{dist_autograd::new_context(), {}};
  tell_others(rank, chain.context->context_id());
  group_barrier();
  DISTRUN_EXPECT(known_context_ids().size() == 3u);
  Tensor x = leaf();
  for (int i = 0; i < calls; ++i) x = rpc_sync<Tensor>(next_worker(rank, 1 + i % 3), "add", x, x);
  chain.loss = sum(apply<MyBackwardFunc>(x, chain.context->context_id()));
  return chain;
}

}  // namespace

DISTRUN_TEST_F(DistAutogradTest, backward_verify_hooks) {
  const Tensor a = set_requires_grad(ones({3, 3})), b = set_requires_grad(ones({3, 3}));
  register_hook(a, [](const Tensor& gradient) { return gradient * 2; });
  verify_in_modes(rank, {ExecMode::Local, ExecMode::RpcSync, ExecMode::Remote}, {a, b},
                  [&](Exec& exec) { return TensorList{sum(exec("matmul", a, b))}; });
  DISTRUN_EXPECT(what_differs(grad(a), full({3, 3}, 6)) == "");
  DISTRUN_EXPECT(what_differs(grad(b), full({3, 3}, 3)) == "");
}

// The gradient comes over two edges to one node.
DISTRUN_TEST_F(DistAutogradTest, post_hooks) {
  std::atomic<int> called{0};
  const auto adds = [&called](int number) {
    return [&called, number](TensorList results, const TensorList& /*gradients*/) {
      called += number;
      return results;
    };
  };
  const Tensor t = set_requires_grad(rand({10, 10}));
  const Tensor twice = t + t;
  const auto node = grad_fn(twice);
  const autograd::Edges& edges = node->next_edges();
  DISTRUN_REQUIRE(edges.size() == 2u);
  DISTRUN_EXPECT((edges[0].node == edges[1].node));
  edges[0].node->add_post_hook(adds(1));
  edges[0].node->add_post_hook(adds(2));
  edges[1].node->add_post_hook(adds(2));
  const ContextScope context;
  dist_autograd::backward(context.id(), {sum(twice)});
  DISTRUN_EXPECT(called.load() == 5);
  const auto gradients = dist_autograd::get_gradients(context.id());
  DISTRUN_EXPECT(gradients.size() == 1u);
  DISTRUN_EXPECT(gradients.contains(t));
}

DISTRUN_TEST_F(DistAutogradTest, debug_info) {
  open_group(rank);
  const Tensor a = leaf(), b = leaf();
  dist_autograd::ContextId id = -1;
  {
    const ContextScope context;
    id = context.id();
    const Tensor half = apply<TestDebugInfoFunc>(add_at_others(rank, a, b));
    dist_autograd::backward(id, {sum(add_at_others(rank, half, b))});
    DISTRUN_EXPECT(is_one_per_rank(open_contexts()));
  }
  tell_others(rank, id);
  group_barrier();
  DISTRUN_EXPECT(current_passes() == 0);
  DISTRUN_EXPECT(dist_autograd::debug_info().size() == 2u);
  DISTRUN_EXPECT(all_contexts_cleaned_up());
  DISTRUN_EXPECT(open_contexts() == 0);
}

// The pass does not begin: the context id is unknown.
DISTRUN_TEST_F(DistAutogradTest, clean_context_during_backward) {
  const Chain chain = chain_that_ends_context(rank, 100);
  DISTRUN_EXPECT(chain.context->send_functions().size() == 100u);
  DISTRUN_EXPECT(thrown_by([&] { dist_autograd::backward(100, {chain.loss}); }) ==
                 an_error("RuntimeError", "Could not find autograd context with id: 100"));
  group_barrier();
  rpc::shutdown({.graceful = false});
}

// The pass begins, and may fail. A later context works as usual.
DISTRUN_TEST_F(DistAutogradTest, context_is_gone_during_backward) {
  const Chain chain = chain_that_ends_context(rank, 10);
  const dist_autograd::ContextId id = chain.context->context_id();
  const Thrown thrown = thrown_by([&] { dist_autograd::backward(id, {chain.loss}); });
  DISTRUN_EXPECT(thrown.text.find(kContextsStay) == std::string::npos);
  group_barrier();
  DISTRUN_EXPECT(thrown_by([&] { dist_autograd::retrieve_context(id); }) ==
                 an_error("RuntimeError", "Could not find autograd context with id: " + std::to_string(id)));
  DISTRUN_EXPECT(!dist_autograd::has_current_context());
  const ContextScope context;
  const Tensor a = leaf();
  dist_autograd::backward(context.id(), {sum(rpc_sync<Tensor>(next_worker(rank), "add", a, a))});
  DISTRUN_EXPECT(what_differs(dist_autograd::get_gradients(context.id()).at(a), full({3, 3}, 2)) == "");
}
