// The suites with ranks on two hosts, which are imitated on this machine. Of each suite run the tests that differ most
// there: each fixture, each way to meet, ranks that fail, and calls between hosts. All of a suite run with
// distrun --hosts a,b --launcher local.
#include <catch2/catch.hpp>

#include "run_case.hpp"
#include "support/skip.hpp"

namespace {

using namespace distrun::testing;

// Every test passes, or needs ranks on one host and says so.
void check_on_two_hosts(const std::string& plugin, const Texts& filters, std::size_t passing_min) {
  skip_case_if(!DISTRUN_HAS_GLOO, "distrun was built without gloo, the backend of several hosts");
  const CaseRun run =
      run_tests(plugin, filters,
                {"--world-size", "4", "--hosts", "a,b", "--launcher", "local", "--gpu-driver", "none", "--jobs", "2"});
  std::size_t passing = 0;
  for (const TestResult& test : run.summary.tests) {
    INFO(test.id << ": " << test.verdict << ", " << test.message);
    CHECK((test.verdict == "pass" || test.message.find("needs ranks on one host") != std::string::npos));
    passing += test.verdict == "pass" ? 1 : 0;
  }
  CHECK(passing >= passing_min);
  CHECK(run.ended.exit_code == 0);
}

}  // namespace

TEST_CASE("tests of the harness suite pass on two hosts", "[suite][hosts]") {
  check_on_two_hosts(DISTRUN_HARNESS,
                     {"Barrier.*", "Child.*", "Continuous.*", "Environment.*", "Files.*", "Output.*", "Ranks.*",
                      "Rendezvous.*", "SingleProcess.*", "Subtests.*"},
                     20);
}

TEST_CASE("tests of the collectives suite pass on two hosts", "[suite][hosts]") {
  check_on_two_hosts(DISTRUN_COLLECTIVES_SUITE,
                     {"TestDistBackend.*", "DistBackendFlow.*", "PatientDistBackend.*", "QuickDistBackend.*",
                      "SingleProcessGroup.*", "GroupHelpers.initialize_pg*", "MonitoredBarrier.*", "Pairs.*",
                      "Mistakes.a_rank_that_does_not_come", "SuiteGroups.are_*", "SuiteGroups.keep_*"},
                     15);
}

TEST_CASE("tests of the RPC suite pass on two hosts", "[suite][hosts]") {
  check_on_two_hosts(DISTRUN_RPC_SUITE,
                     {"RpcHelpers.options_*", "RpcHelpers.ranks_meet_*", "RpcTest.reinit", "RpcTest.init_*",
                      "RpcTest.worker_id", "RpcTest.self_add", "RpcTest.rpc_barrier_*", "RpcTest.duplicate_name*",
                      "RpcTest.wait_all_workers_timeout", "SuiteSession.*", "TensorPipeAgentRpcTest.dynamic_*"},
                     15);
}

TEST_CASE("tests of the suite of references pass on two hosts", "[suite][hosts]") {
  check_on_two_hosts(DISTRUN_RREF_SUITE,
                     {"RrefHelpers.*", "RpcTest.nested_rref", "RpcTest.rref_forward_chain", "RpcTest.user_rrefs_*",
                      "RpcTest.rref_timeout", "RpcTest.rref_type_*owner*", "RpcTest.rref_leak", "RpcTest.remote_throw",
                      "RpcTest.async_function_chained_remote", "RpcTest.world_size_one"},
                     12);
}

TEST_CASE("tests of the distributed autograd suite pass on two hosts", "[suite][hosts]") {
  check_on_two_hosts(
      DISTRUN_DIST_AUTOGRAD_SUITE,
      {"FaultyAgentDistAutogradTest.*", "RpcTest.*", "DistAutogradTest.backward_simple*",
       "DistAutogradTest.trainer_ps*", "DistAutogradTest.context_cleanup_*",
       "TensorPipeAgentDistAutogradTest.backward_rref*", "TensorPipeAgentDistAutogradTest.graph_for_py_nested*"},
      15);
}
