// Failures in a pass over workers, and their remains.
#include "autograd_ranks.hpp"

namespace distrun::dist_autograd {
namespace failure_test {

struct MayFail {
  static Tensor forward(autograd::FunctionContext&, const Tensor& x) { return x * 1; }
  static TensorList backward(autograd::FunctionContext&, TensorList) {
    throw Error(ErrorKind::Failed, "RuntimeError", "Simulate error on backward pass");
  }
};

Tensor failing(const Tensor& a) { return autograd::apply<MayFail>(a); }
DISTRUN_RPC(failing)
Tensor failing_beyond(const std::string& next, const Tensor& a) {
  return rpc::rpc_sync<Tensor>(next, "failing", a) + a;
}
DISTRUN_RPC(failing_beyond)
Tensor doubled(const Tensor& a) { return a * 2; }
DISTRUN_RPC(doubled)

}  // namespace failure_test

namespace {

using namespace failure_test;

TEST_CASE("an error of another worker has its number, through several workers, and everything stays usable") {
  const AutogradRanks ranks(3);
  for (const Mode mode : {Mode::Smart, Mode::Fast}) {
    ranks.as(0, [&] {
      const Tensor a = leaf(2);
      const ContextScope scope;
      const Tensor near = sum(rpc::rpc_sync<Tensor>("worker1", "failing", a));
      CHECK(rpc::text_of_error([&] { backward(scope.id(), {near}, {.mode = mode}); }) ==
            "Error on Node 1: Simulate error on backward pass");
    });
    ranks.as(0, [&] {
      const Tensor a = leaf(2);
      const ContextScope scope;
      const Tensor far = sum(rpc::rpc_sync<Tensor>("worker1", "failing_beyond", "worker2", a));
      CHECK_THAT(rpc::text_of_error([&] { backward(scope.id(), {far}, {.mode = mode}); }),
                 Catch::StartsWith("Error on Node ") && Catch::EndsWith("Simulate error on backward pass"));
      backward(scope.id(), {sum(rpc::rpc_sync<Tensor>("worker1", "doubled", a))}, {.mode = Mode::Smart});
    });
  }
  CHECK(ranks.left_over() == "");
}

TEST_CASE("invalid roots are refused, and a missing context is reported first") {
  const AutogradRanks ranks(1);
  const auto error_of = [&](const std::function<void(ContextId)>& work) {
    return ranks.error_as(0, [&] {
      const ContextScope scope;
      work(scope.id());
    });
  };
  CHECK(ranks.error_as(0, [] { backward(100, TensorList{}); }) ==
        "RuntimeError: Could not find autograd context with id: 100");
  CHECK(error_of([](ContextId id) { backward(id, TensorList{}); }) ==
        "RuntimeError: No tensors provided for gradient computation.");
  CHECK_THAT(error_of([](ContextId id) { backward(id, {ones({1})}); }), Catch::Contains("requires_grad not set on"));
  CHECK_THAT(error_of([](ContextId id) { backward(id, {leaf(1) * 2}); }),
             Catch::Contains("is not a scalar, all roots need to be scalar"));
  CHECK_THAT(error_of([](ContextId id) { backward(id, {leaf(1, {1})}); }),
             Catch::Contains("does not have a valid gradient function"));
}

TEST_CASE("a plain backward pass that reaches another worker's result says which pass to use") {
  const AutogradRanks ranks(2);
  CHECK_THAT(ranks.error_as(0,
                            [] {
                              const ContextScope scope;
                              distrun::backward(sum(rpc::rpc_sync<Tensor>("worker1", "doubled", leaf(1))));
                            }),
             Catch::Contains("use dist_autograd::backward(), which continues there"));
}

TEST_CASE("a worker that is lost in the middle of a pass is named, and its contexts are released") {
  const AutogradRanks ranks(3);
  ContextId of_lost = -1;
  ranks.as(2, [&] {
    of_lost = new_context()->context_id();
    rpc::rpc_sync<Tensor>("worker0", "doubled", leaf(1));
    core::thread_state().autograd_context = -1;
  });
  ranks.as(0, [&] {
    CHECK(retrieve_context(of_lost)->context_id() == of_lost);
    const ContextScope scope;
    const Tensor result = sum(rpc::rpc_sync<Tensor>("worker2", "doubled", leaf(1)));
    ranks.as(2, [] { rpc::shutdown({.graceful = false}); });
    CHECK_THAT(rpc::text_of_error([&] { backward(scope.id(), {result}); }), Catch::Contains("worker2"));
  });
  ranks.as(0, [&] {
    CHECK(eventually(scaled(std::chrono::milliseconds(5000)),
                     [] { return debug_info()["num_autograd_contexts"] == "0"; }));
    CHECK(debug_info()["num_current_backward_passes"] == "0");
  });
}

// Releases are repeated until they are answered; a shutdown does not count them.
TEST_CASE("a graceful shutdown ends even if releases of contexts are lost or arrive twice") {
  for (const std::string faults : {"1:drop:cleanup:0.5", "1:dup:cleanup:1", "1:drop:retriable:0.3,dup:retriable:0.5"}) {
    INFO(faults);
    const AutogradRanks ranks(2, faults);
    const auto errors = ranks.run([](int rank) {
      for (int i = 0; rank == 0 && i < 5; ++i) {
        const ContextScope scope;
        rpc::rpc_sync<Tensor>("worker1", "doubled", leaf(1));
      }
      rpc::shutdown({.timeout = 60});
    });
    CHECK(errors == rpc::no_errors(2));
  }
}

}  // namespace
}  // namespace distrun::dist_autograd
