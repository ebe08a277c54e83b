// Contexts with lost messages: workers that know a context are notified of its end, with as many retries as needed.
#include "suites_more.hpp"

using namespace distrun;
using namespace distrun::suites;

DISTRUN_SUITE(FaultyAgentDistAutogradTest, .world_size = fixed(4));

DISTRUN_TEST_F(FaultyAgentDistAutogradTest, context_cleanup_tensor_with_grad) {
  const Tensor a = set_requires_grad(ones({3, 3})), b = set_requires_grad(zeros({3, 3}));
  expect_contexts_cleaned_up(rank, [&](const std::string& to) { rpc_sync<Tensor>(to, "add", a, b); });
}

DISTRUN_TEST_F(FaultyAgentDistAutogradTest, verify_backend_options) {
  const auto options = faults_of(rank, kUse);
  DISTRUN_EXPECT(rpc::backend_of(*options).name() == rpc::find_backend("FAULTY_TENSORPIPE").name());
  DISTRUN_EXPECT(rpc::agent_debug_info().at("faulty.plan") != "");
  DISTRUN_EXPECT(rpc::agent_debug_info().at("agent.thread_pool_size") == "8");
  DISTRUN_EXPECT(options->num_worker_threads == 8);
  DISTRUN_EXPECT(options->num_fail_sends == 3);
  DISTRUN_EXPECT(options->messages_to_fail.size() == 4u);
}
