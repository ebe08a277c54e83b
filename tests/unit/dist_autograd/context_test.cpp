#include "autograd_ranks.hpp"

namespace distrun::dist_autograd {
namespace context_test {

std::int64_t context_there() { return has_current_context() ? current_context()->context_id() : -1; }
DISTRUN_RPC(context_there)
bool requires_there(const Tensor& tensor) { return requires_grad(tensor); }
DISTRUN_RPC(requires_there)
// Asks the next worker in turn.
std::int64_t context_beyond(const std::string& next) { return rpc::rpc_sync<std::int64_t>(next, "context_there"); }
DISTRUN_RPC(context_beyond)

}  // namespace context_test

namespace {

using namespace context_test;

TEST_CASE("a context is its thread's, and its calls' and their calls'") {
  const AutogradRanks ranks(3);
  ranks.as(1, [] {
    CHECK_FALSE(has_current_context());
    const ContextScope scope;
    CHECK(scope.id() >> 48 == 1);
    CHECK(current_context()->context_id() == scope.id());
    CHECK(rpc::rpc_sync<std::int64_t>("worker2", "context_there") == scope.id());
    CHECK(rpc::rpc_sync<std::int64_t>("worker0", "context_beyond", "worker2") == scope.id());
    CHECK(current_context()->known_worker_ids() == std::set<WorkerId>{0, 2});
    CHECK(max_id() == (std::int64_t{1} << 48) + (std::int64_t{1} << 48) - 1);
  });
  ranks.as(1, [] { CHECK(rpc::rpc_sync<std::int64_t>("worker2", "context_there") == -1); });
  CHECK(ranks.left_over() == "");
}

TEST_CASE("a thread has one context, and none without a session") {
  const AutogradRanks ranks(1);
  CHECK(ranks.error_as(0, [] {
    const ContextScope outer;
    const ContextScope inner;
  }) == "RuntimeError: Already have an autograd context id for this thread: 0");
  CHECK_THAT(ranks.error_as(0, [] { current_context(); }), Catch::Contains("doesn't have a valid autograd context"));
  CHECK(ranks.error_as(0, [] { retrieve_context(7); }) == "RuntimeError: Could not find autograd context with id: 7");
  const rpc::Ranks without(1);
  CHECK_THAT(without.error_as(0, [] { const ContextScope scope; }), Catch::Contains("RPC has not been initialized"));
}

TEST_CASE("a context that was released is not created again by late messages") {
  const AutogradRanks ranks(2);
  ContextId id = -1;
  ranks.as(0, [&] {
    const ContextScope scope;
    id = scope.id();
    rpc::rpc_sync<std::int64_t>("worker1", "context_there");
  });
  CHECK(ranks.left_over() == "");
  ranks.as(0, [&] {
    core::thread_state().autograd_context = id;
    CHECK(rpc::rpc_sync<bool>("worker1", "requires_there", leaf(1)));
    core::thread_state().autograd_context = -1;
  });
  CHECK(ranks.left_over() == "");
}

TEST_CASE("a leaf that is sent in a call requires a gradient there, with a context and without") {
  const AutogradRanks ranks(2);
  ranks.as(0, [] {
    CHECK(rpc::rpc_sync<bool>("worker1", "requires_there", leaf(1)));
    CHECK_FALSE(rpc::rpc_sync<bool>("worker1", "requires_there", ones({2})));
    const ContextScope scope;
    CHECK(rpc::rpc_sync<bool>("worker1", "requires_there", leaf(1)));
    CHECK_FALSE(rpc::rpc_sync<bool>("worker1", "requires_there", ones({2})));
    CHECK(current_context()->send_functions().size() == 1);
  });
  CHECK(ranks.left_over() == "");
}

}  // namespace
}  // namespace distrun::dist_autograd
