// Rejected arguments, and errors of formulas, which the caller of the pass gets, however many workers away they happen.
#include <cstddef>
#include <regex>

#include "scenarios.hpp"
#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;
using dist_autograd::ContextScope;

namespace {

// A pass without a context, or without roots, does not compile.
static_assert(BeginsPass<dist_autograd::ContextId, TensorList>);
static_assert(!BeginsPass<dist_autograd::ContextId, std::nullptr_t>);
static_assert(!BeginsPass<std::nullptr_t, std::nullptr_t>);
static_assert(!BeginsPass<TensorList>);

Tensor random(const Dims& sizes = {3, 3}) { return rand(sizes); }

Thrown thrown_by_pass(const ContextScope& context, const TensorList& roots,
                      const dist_autograd::BackwardOptions& options = {}) {
  return thrown_by([&] { dist_autograd::backward(context.id(), roots, options); });
}

const WantedError kSimulated = an_error("RuntimeError", "Simulate error on backward pass");

// Switches the errors of each rank's formulas, once no rank's pass needs them.
void simulate_errors_of_all(bool on) {
  group_barrier();
  simulate_backward_errors(on);
  group_barrier();
}

}  // namespace

DISTRUN_TEST_F(DistAutogradTest, nested_context) {
  {
    const ContextScope outer;
    DISTRUN_EXPECT(thrown_by([] { const ContextScope inner; }) ==
                   an_error("RuntimeError", "Already have an autograd context id for this thread"));
    DISTRUN_EXPECT(dist_autograd::current_context()->context_id() == outer.id());
    DISTRUN_EXPECT(dist_autograd::retrieve_context(outer.id())->context_id() == outer.id());
  }
  DISTRUN_EXPECT(!dist_autograd::has_current_context());
}

DISTRUN_TEST_F(DistAutogradTest, error_in_context) {
  const ContextScope context;
  DISTRUN_EXPECT(thrown_by([&] {
                   rpc_sync<Tensor>(next_worker(rank), "matmul", leaf(), leaf({6, 6}));
                 }) == an_error("RuntimeError", "matmul"));
}

// The context is looked up before the roots are checked.
DISTRUN_TEST_F(DistAutogradTest, backward_without_context) {
  const WantedError unknown = an_error("RuntimeError", "Could not find autograd context with id: 100");
  const Tensor there = rpc_sync<Tensor>(next_worker(rank), "add", leaf(), leaf());
  DISTRUN_EXPECT(thrown_by([&] { dist_autograd::backward(100, {sum(there)}); }) == unknown);
  DISTRUN_EXPECT(thrown_by([] { dist_autograd::backward(100, TensorList()); }) == unknown);
}

// Callers that know types only at run time can pass invalid roots.
DISTRUN_TEST_F(DistAutogradTest, backward_invalid_args) {
  const ContextScope context;
  const std::monostate nothing;
  const auto by_name = [&](const auto& id, const auto& roots) {
    return thrown_by([&] { rpc_sync(rpc::get_worker_info(), "dist_autograd_backward", id, roots); });
  };
  for (const char* const part : {"argument 'roots' must be", "incompatible function arguments"}) {
    DISTRUN_EXPECT(by_name(context.id(), nothing) == an_error("TypeError", part));
  }
  for (const char* const part : {"argument 'context_id' must be", "incompatible function arguments"}) {
    DISTRUN_EXPECT(by_name(nothing, nothing) == an_error("TypeError", part));
  }
  DISTRUN_EXPECT(thrown_by_pass(context, {}) ==
                 an_error("RuntimeError", "No tensors provided for gradient computation"));
  DISTRUN_EXPECT(thrown_by_pass(context, {random()}) == an_error("RuntimeError", "requires_grad not set on"));
  DISTRUN_EXPECT(thrown_by_pass(context, {leaf()}) ==
                 an_error("RuntimeError", "is not a scalar, all roots need to be scalar"));
  DISTRUN_EXPECT(thrown_by_pass(context, {leaf({1})}) ==
                 an_error("RuntimeError", "does not have a valid gradient function"));
  const Tensor a = leaf();
  dist_autograd::backward(context.id(), {sum(a)});
  DISTRUN_EXPECT(what_differs(dist_autograd::get_gradients(context.id()).at(a), ones({3, 3})) == "");
}

// The error happens here, at the end of a pass across three other workers and back.
DISTRUN_TEST_F(DistAutogradTest, backward_autograd_engine_error) {
  const ContextScope context;
  const Tensor a = leaf(), b = leaf();
  const Tensor t = apply<SimulateBackwardError>((a + b) * (a + b));
  Tensor x = rpc_sync<Tensor>(next_worker(rank, 1), "add", b, t);
  x = rpc_sync<Tensor>(next_worker(rank, 2), "mul", x, b);
  x = rpc_sync<Tensor>(next_worker(rank, 3), "matmul", x, b);
  x = rpc_sync<Tensor>(next_worker(rank, 1), "div", x, b);
  const Thrown thrown = thrown_by_pass(context, {sum(x)});
  DISTRUN_EXPECT(thrown == kSimulated);
  const std::regex pattern("Error on Node [0-9]+: Simulate error on backward pass");
  DISTRUN_EXPECT(std::regex_search(thrown.text, pattern));
}

DISTRUN_TEST_F(DistAutogradTest, backward_python_udf_error) {
  const ContextScope context;
  const Tensor there = rpc_sync(next_worker(rank), nested_rpc_call_backward_error, leaf(), leaf(), next_rank(rank, 2));
  DISTRUN_EXPECT(thrown_by_pass(context, {sum(there)}) == kSimulated);
}

DISTRUN_TEST_F(DistAutogradTest, multiple_backward_with_errors) {
  open_group(rank);
  {
    const ContextScope context;
    const Tensor loss = sum(rpc_sync(next_worker(rank), python_udf_with_backward_error, leaf(), leaf()));
    for (int i = 0; i < 50; ++i) {
      DISTRUN_EXPECT(thrown_by_pass(context, {loss}, {.retain_graph = true}) == kSimulated);
    }
    simulate_errors_of_all(false);
    for (int i = 51; i < 100; ++i) {
      DISTRUN_EXPECT(thrown_by_pass(context, {loss}, {.retain_graph = true}).type == "");
    }
    simulate_errors_of_all(true);
  }
  rpc::shutdown({.graceful = false});
}
