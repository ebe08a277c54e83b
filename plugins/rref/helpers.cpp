// The ported tests' helpers for references and for faults.
#include "suites.hpp"

#include <distrun/runtime/rpc/session/hooks.hpp>

#include "support/rref_callees_async.hpp"

using namespace distrun;
using namespace distrun::suites;

DISTRUN_SUITE(RrefHelpers, .world_size = fixed(4));

namespace {

// Checks before RPC starts, and without RPC.
void expect_impossible_faults_refused(Rank& rank) {
  for (const bool setup_rpc : {false, true}) {
    bool has_run = false;
    const RpcUse use{.setup_rpc = setup_rpc, .is_faulty = true, .faulty_messages = {{"NO_SUCH_MESSAGE"}}};
    DISTRUN_EXPECT(thrown_by([&] { with_rpc(rank, use, [&] { has_run = true; }); }).text ==
                   "No mapping to rpc::MessageType exists for NO_SUCH_MESSAGE");
    DISTRUN_EXPECT(!has_run);
    DISTRUN_EXPECT(!rpc::is_initialized());
  }
}

// A reference that the shutdown does not delete remains at its owner.
void expect_leak_found(Rank& rank) {
  rpc::SessionHooks hooks;
  hooks.delete_references = [] {};
  const rpc::UseHooks none(hooks);
  std::optional<RRef<Tensor>> kept;
  const auto leave_one = [&] {
    kept = remote<Tensor>(next_worker(rank), "add", square(2), 1);
    kept->creation().wait();
  };
  DISTRUN_EXPECT(thrown_by([&] { with_rpc(rank, {}, leave_one); }) == an_error("RuntimeError", "Leaking RRef"));
}

}  // namespace

DISTRUN_TEST(RrefHelpers, references_are_waited_for_until_nothing_is_on_its_way) {
  rank.note("rows", "[row:rpc_wait/wait_until_pending_futures_and_users_flushed-timeout-20]");
  rank.barrier("all have begun");
  with_rpc(rank, {}, [&] {
    const auto slow = remote(next_worker(rank), slow_product, 3);
    DISTRUN_EXPECT(thrown_by([] { wait_until_references_settle(0.01); }) ==
                   an_error("ValueError",
                            "Timed out waiting to flush pending futures and users, had 1 pending futures and 1 "
                            "pending users"));
    wait_until_references_settle();
    DISTRUN_EXPECT(slow.confirmed_by_owner());
  });
}

DISTRUN_TEST(RrefHelpers, owners_and_forks_of_another_rank_are_counted) {
  rank.note("rows",
            "[row:rpc_wait/get_num_owners_and_forks] "
            "[row:rpc_wait/wait_until_owners_and_forks_on_rank-owners-forks-rank-timeout-20]");
  rank.barrier("all have begun");
  with_rpc(rank, {}, [&] {
    const auto sum = remote<Tensor>(next_worker(rank), "add", square(2), 1);
    sum.to_here();
    rank.barrier("all are made");
    wait_until_owners_and_forks(next_worker(rank), 1, 1);
    DISTRUN_EXPECT(get_num_owners_and_forks() == std::pair<std::string, std::string>("1", "1"));
    DISTRUN_EXPECT(
        thrown_by([&] { wait_until_owners_and_forks(next_worker(rank), 2, 1, 0.01); }) ==
        an_error("ValueError", "Timed out waiting 0 sec for 2 owners and 1 forks on rank, had 1 owners and 1 forks"));
    rank.barrier("all have looked");
  });
}

DISTRUN_TEST(RrefHelpers, faults_have_the_usual_values_where_a_test_names_none) {
  rank.note("rows", "[row:rpc_init/fault-injection-defaults]");
  const auto usual = faults_of(rank, {.is_faulty = true});
  DISTRUN_EXPECT(usual->num_worker_threads == 8);
  DISTRUN_EXPECT(usual->num_fail_sends == 3);
  DISTRUN_EXPECT(usual->messages_to_fail ==
                 std::vector<std::string>(
                     {"RREF_FORK_REQUEST", "RREF_CHILD_ACCEPT", "RREF_USER_DELETE", "CLEANUP_AUTOGRAD_CONTEXT_REQ"}));
  DISTRUN_EXPECT(usual->messages_to_delay ==
                 std::map<std::string, double>({{"PYTHON_CALL", 1.5}, {"SCRIPT_CALL", 1.5}}));
  DISTRUN_EXPECT(usual->faults ==
                 "0:fail:fork_request+child_accept+user_delete+cleanup:3,delay:call:1.5,delay:call:1.5");
  const auto own =
      faults_of(rank, {.is_faulty = true, .faulty_messages = {{}}, .messages_to_delay = {{{"PYTHON_CALL", 0.1}}}});
  DISTRUN_EXPECT(own->messages_to_fail.empty());
  DISTRUN_EXPECT(own->messages_to_delay.at("PYTHON_CALL") == 0.1);
  DISTRUN_EXPECT(own->faults == "0:delay:call:0.1");
  DISTRUN_EXPECT(faults_of(rank, {}) == nullptr);
}

// References left at the end are an error. Faults are set up before the session, which reads them.
DISTRUN_TEST(RrefHelpers, a_body_runs_between_a_start_with_its_faults_and_a_shutdown_that_looks_for_leaks) {
  rank.note("rows", "[row:rpc_init/dist_init-usage-and-parameters] [row:rpc_init/dist_init-order-before-the-body]");
  rank.barrier("all have begun");
  const RpcUse use{.is_faulty = true, .messages_to_delay = std::map<std::string, double>()};
  const int made = with_rpc(rank, use, [&] {
    DISTRUN_EXPECT(rpc::get_worker_info().id() == rank.rank());
    DISTRUN_EXPECT(rpc::get_worker_info().name() == "worker" + std::to_string(rank.rank()));
    DISTRUN_EXPECT(rpc::get_worker_infos().size() == static_cast<std::size_t>(rank.world_size()));
    DISTRUN_EXPECT(rpc::agent_debug_info().count("faulty.plan") == 1u);
    const auto sum = remote<Tensor>(next_worker(rank), "add", square(2), 1);
    DISTRUN_EXPECT(
        what_differs(rpc_sync<Tensor>(next_worker(rank, 2), "add_rref_to_value", sum, square(2)), square(2, 3)) == "");
    return 5;  // the fork's messages failed three times each, and still arrived
  });
  DISTRUN_EXPECT(made == 5);
  DISTRUN_EXPECT(!rpc::is_initialized());
  DISTRUN_EXPECT(with_rpc(rank, {.setup_rpc = false, .is_faulty = true}, [] { return rpc::is_initialized(); }) ==
                 false);
  expect_impossible_faults_refused(rank);
  expect_leak_found(rank);
}
