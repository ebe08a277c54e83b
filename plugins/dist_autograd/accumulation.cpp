// Results of one pass and of several: the gradients of a context against those of passes on one worker.
#include "scenarios.hpp"
#include "suites.hpp"
#include "support/autograd_callees_more.hpp"

using namespace distrun;
using namespace distrun::suites;
using dist_autograd::ContextScope;

namespace {

// A value of another owner can be the root of a pass only with a context.
static_assert(BeginsPass<dist_autograd::ContextId, RRef<Tensor>>);
static_assert(BeginsPass<RRef<Tensor>>);

Tensor gradient_of(const ContextScope& context, const Tensor& leaf) {
  return dist_autograd::get_gradients(context.id()).at(leaf);
}

// Runs two passes over one graph.
template <class Root>
void pass_twice(const ContextScope& context, const Root& root) {
  dist_autograd::backward(context.id(), root, {.retain_graph = true});
  dist_autograd::backward(context.id(), root);
}

const WantedError kNoTensor = an_error("RuntimeError", "RRef should contain a tensor for .backward()");

// Roots of this worker: passes without a context, and with one.
void expect_refused_roots() {
  const auto thrown_without_context = [](const Tensor& root) {
    return thrown_by([&] { dist_autograd::backward(RRef<Tensor>(root)); });
  };
  DISTRUN_EXPECT(thrown_without_context(rand({10})) ==
                 an_error("RuntimeError", "tensors does not require grad and does not have a grad_fn"));
  DISTRUN_EXPECT(thrown_without_context(leaf({10})) ==
                 an_error("RuntimeError", "grad can be implicitly created only for scalar outputs"));
  DISTRUN_EXPECT(thrown_by([] { dist_autograd::backward(100, RRef<Tensor>(sum(leaf({10})))); }) ==
                 an_error("RuntimeError", "Could not find autograd context with id: 100"));
  const ContextScope context;
  const auto text = RRef<std::string>("foo").as<Tensor>();
  DISTRUN_EXPECT(thrown_by([&] { dist_autograd::backward(context.id(), text); }) == kNoTensor);
  DISTRUN_EXPECT(thrown_by([&] { dist_autograd::backward(text); }) == kNoTensor);
}

}  // namespace

DISTRUN_TEST_F(DistAutogradTest, backward_without_rpc) {
  const ContextScope context;
  const Tensor a = leaf(), b = leaf();
  dist_autograd::backward(context.id(), {sum(a + b)});
  const auto gradients = dist_autograd::get_gradients(context.id());
  DISTRUN_EXPECT(gradients.size() == 2u);
  DISTRUN_EXPECT(what_differs(gradients.at(a), ones({3, 3})) == "");
  DISTRUN_EXPECT(what_differs(gradients.at(b), ones({3, 3})) == "");
}

DISTRUN_TEST_F(DistAutogradTest, backward_accumulate_grads) {
  const ContextScope context;
  const Tensor a = leaf(), b = leaf();
  const Tensor here = matmul(a, b);
  backward(sum(here), {}, {.retain_graph = true});
  backward(sum(here));
  const Tensor there = rpc_sync<Tensor>(next_worker(rank), "matmul", a, b);
  dist_autograd::backward(context.id(), {sum(there)}, {.retain_graph = true});
  dist_autograd::backward(context.id(), {sum(there)});
  const auto gradients = dist_autograd::get_gradients(context.id());
  DISTRUN_EXPECT(gradients.size() == 2u);
  DISTRUN_EXPECT(what_differs(gradients.at(a), grad(a)) == "");
  DISTRUN_EXPECT(what_differs(gradients.at(b), grad(b)) == "");
}

DISTRUN_TEST_F(DistAutogradTest, backward_multiple_roots) {
  const auto [a, b] = random_pair();
  verify_in_modes(rank, {ExecMode::Local, ExecMode::RpcSync}, {a, b}, [a = a, b = b](Exec& exec) {
    const Tensor added = sum(exec("add", a, b)), multiplied = sum(exec("mul", a, b));
    const Tensor cosines = sum(exec("cos", a)), divided = sum(exec("div", a, b));
    return TensorList{added, multiplied, cosines, divided};
  });
}

DISTRUN_TEST_F(DistAutogradTest, backward_different_tensor_dims) {
  const Tensor t1 = leaf({4, 6}), t2 = rand({6, 5}), t3 = leaf({5, 7}), t4 = rand({7, 9});
  verify_in_modes(rank, kInTurn, {t1, t2, t3, t4}, [&](Exec& exec) {
    const Tensor product = exec("matmul", t1, t2);
    DISTRUN_EXPECT(product.sizes() == Dims({4, 5}));
    return TensorList{sum(exec("multi_dot", TensorList{product, t3, t4}))};
  });
  DISTRUN_EXPECT(!grad(t2).defined());
  DISTRUN_EXPECT(!grad(t4).defined());
}

// The second tensor is part of the stack, but of no result: its gradient exists, and is zero.
DISTRUN_TEST_F(DistAutogradTest, backward_unused_tensors) {
  const Tensor t1 = leaf(), t2 = leaf(), t3 = leaf();
  verify_in_modes(rank, kInTurn, {t1, t2, t3}, [&](Exec& exec) {
    const Tensor stacked = exec("stack", TensorList{t1, t2, t3});
    return TensorList{sum(exec("matmul", narrow(stacked, 0, 0, 1), narrow(stacked, 0, 2, 1)))};
  });
  DISTRUN_EXPECT(what_differs(grad(t2), zeros({3, 3})) == "");
}

// One message brings five tensors; three of them are used.
DISTRUN_TEST_F(DistAutogradTest, backward_multiple_output_tensors) {
  const Tensor t = leaf({10, 2});
  verify_in_modes(rank, kInTurn, {t}, [&](Exec& exec) {
    const auto pieces = exec.run<TensorList>("split", t, 2);
    DISTRUN_REQUIRE(pieces.size() == 5u);
    return TensorList{sum(exec("multi_dot", TensorList{pieces[0], pieces[2], pieces[4]}))};
  });
  DISTRUN_EXPECT(what_differs(narrow(grad(t), 0, 2, 2), zeros({2, 2})) == "");
  DISTRUN_EXPECT(what_differs(narrow(grad(t), 0, 6, 2), zeros({2, 2})) == "");
}

DISTRUN_TEST_F(DistAutogradTest, backward_complex_python_udf) {
  const auto [a, b] = random_pair();
  verify_in_modes(rank, {ExecMode::Local, ExecMode::Remote}, {a, b},
                  [a = a, b = b](Exec& exec) { return TensorList{sum(exec(complex_python_udf, a, b))}; });
}

DISTRUN_TEST_F(RpcTest, owner_rref_backward) {
  const Tensor t = leaf({10, 10});
  const auto twice_there = [&] { return RRef<Tensor>(sum(rpc_sync<Tensor>(next_worker(rank), "add", t, t))); };
  dist_autograd::backward(RRef<Tensor>(sum(t) + sum(t)));
  DISTRUN_EXPECT(what_differs(grad(t), full({10, 10}, 2)) == "");
  {
    const ContextScope context;
    dist_autograd::backward(context.id(), twice_there());
    DISTRUN_EXPECT(what_differs(gradient_of(context, t), full({10, 10}, 2)) == "");
  }
  {
    const ContextScope context;
    pass_twice(context, twice_there());
    DISTRUN_EXPECT(what_differs(gradient_of(context, t), full({10, 10}, 4)) == "");
  }
  expect_refused_roots();
}

DISTRUN_TEST_F(RpcTest, user_rref_backward) {
  const Tensor t = leaf({10});
  {
    const ContextScope context;
    pass_twice(context, remote(next_worker(rank), sum_of, t));
    DISTRUN_EXPECT(what_differs(gradient_of(context, t), full({10}, 2)) == "");
  }
  const ContextScope context;
  const auto text = remote<Tensor>(next_worker(rank), "identity", std::string("foo"));
  DISTRUN_EXPECT(thrown_by([&] { dist_autograd::backward(context.id(), text); }) == kNoTensor);
  DISTRUN_EXPECT(thrown_by([&] { dist_autograd::backward(text); }) ==
                 an_error("RuntimeError", "User RRefs require 'dist_autograd_ctx_id' to be specified"));
}
