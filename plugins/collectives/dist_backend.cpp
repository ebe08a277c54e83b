// The default group around each test, as in suites for many backends, and the state that tests find at their start.
#include <distrun/common/base/error.hpp>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "support/dist_backend.hpp"
#include "support/groups.hpp"
#include "support/hosts.hpp"
#include "values.hpp"

namespace {

using namespace distrun;
using namespace distrun::suites;
using std::chrono::minutes;
using std::chrono::seconds;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "(not set)" : value;
}

std::string path_of(const std::string& address) { return address.substr(std::string("file://").size()); }

void expect_sum_over(ProcessGroup& group) {
  const Tensor tensor = here(tensor::ones({3}));
  group.all_reduce(tensor);
  expect_same(tensor, here(tensor::full({3}, group.size())));
}

void expect_timeout(base::Nanoseconds timeout) {
  DISTRUN_EXPECT(default_group()->timeout() == timeout);
  DISTRUN_EXPECT(new_group(default_group()->ranks())->timeout() == timeout);
}

bool ranks_share_process(const ListContext& run) { return run.isolation == "threads"; }

// Counts the ranks, and checks the state before and after.
class DistBackendFlow : public TestDistBackend {
 public:
  void set_up(Rank& rank) override {
    DISTRUN_EXPECT(std::filesystem::is_directory(rank.temp_dir()));
    rank.barrier("barriers are there first");
    DISTRUN_EXPECT(!collectives::is_initialized());
    store(rank)->add("begun", 1);
    TestDistBackend::set_up(rank);
    DISTRUN_EXPECT(store(rank)->add("begun", 0) == rank.world_size());
  }
  void tear_down(Rank& rank) override {
    DISTRUN_EXPECT(collectives::is_initialized());
    store(rank)->add("ended", 1);
    TestDistBackend::tear_down(rank);
    DISTRUN_EXPECT(store(rank)->add("ended", 0) == rank.world_size());
    DISTRUN_EXPECT(!collectives::is_initialized());
    DISTRUN_EXPECT(std::filesystem::is_directory(rank.temp_dir()));  // removed after all ranks have ended
  }
};

class PatientDistBackend : public TestDistBackend {
  base::Nanoseconds group_timeout() const override { return minutes(5); }
};

// A group with a short timeout, for tests that kill a rank.
class QuickDistBackend : public TestDistBackend {
  base::Nanoseconds group_timeout() const override { return seconds(5); }
};

// A process that is a whole world.
class SingleProcessGroup : public TestDistBackend {};

}  // namespace

DISTRUN_SUITE(TestDistBackend, .skip = {needs_gpus_for_nccl()});
DISTRUN_SUITE(DistBackendFlow, .skip = {needs_gpus_for_nccl()});
DISTRUN_SUITE(PatientDistBackend, .skip = {needs_gpus_for_nccl()});
DISTRUN_SUITE(QuickDistBackend, .skip = {needs_gpus_for_nccl()});
DISTRUN_SUITE(SingleProcessGroup, .world_size = fixed(1), .env_rendezvous = true, .skip = {needs_gpus_for_nccl()});

DISTRUN_TEST_F(TestDistBackend, ranks_are_in_a_group_of_the_runs_size_and_backend) {
  rank.note("rows", "[row:distbackend/world_size]");
  const auto group = default_group();
  DISTRUN_EXPECT(std::to_string(group->size()) == variable("WORLD_SIZE"));
  DISTRUN_EXPECT(group->backend() == variable("BACKEND"));
  DISTRUN_EXPECT(group->rank() == rank.rank());
  DISTRUN_EXPECT(group->sequence_number() == 0);  // nothing has used it before
  expect_sum_over(*group);
}

DISTRUN_TEST_F(TestDistBackend, ranks_meet_at_a_file_of_the_test) {
  rank.note("rows", "[row:distbackend/init_method]");
  needs_one_host(rank);
  const std::string again = variable("INIT_METHOD");
  DISTRUN_EXPECT(group_file(rank) != path_of(again));
  DISTRUN_EXPECT(std::filesystem::exists(group_file(rank)));
  DISTRUN_EXPECT(!std::filesystem::exists(path_of(again)));
  default_group()->barrier();
  destroy_process_group();
  initialize_pg(again, rank.rank(), rank.world_size());
  DISTRUN_EXPECT(std::filesystem::exists(path_of(again)));
  expect_sum_over(*default_group());
}

DISTRUN_TEST_F(TestDistBackend, ranks_know_the_masters_address_and_no_port) {
  rank.note("rows", "[row:distbackend/class-set-up]");
  if (!are_hosts_several()) DISTRUN_EXPECT(variable("MASTER_ADDR") == "127.0.0.1");
  DISTRUN_EXPECT(variable("MASTER_PORT") == "(not set)");
  const auto group = default_group();
  std::shared_ptr<TcpStore> at_master;
  if (rank.is_master()) at_master = create_tcp_store(variable("MASTER_ADDR"));
  const int port = broadcast_object(*group, rank.is_master() ? int{at_master->port()} : 0, 0);
  if (!rank.is_master()) {
    at_master = create_tcp_store(variable("MASTER_ADDR"), {.port = static_cast<std::uint16_t>(port)});
  }
  at_master->add("come", 1);
  group->barrier();
  DISTRUN_EXPECT(at_master->add("come", 0) == rank.world_size());
  group->barrier();  // the rank that serves the store ends last
}

DISTRUN_TEST_F(TestDistBackend, groups_of_some_ranks_and_of_all) {
  std::vector<int> all(static_cast<std::size_t>(rank.world_size()));
  std::iota(all.begin(), all.end(), 0);
  const auto everybody = new_group(all);
  DISTRUN_REQUIRE(everybody != nullptr);
  expect_sum_over(*everybody);
  const std::vector<int> some(all.begin() + rank.world_size() / 2, all.end());
  const auto group = new_group(some);
  DISTRUN_EXPECT((group != nullptr) == (rank.rank() >= some.front()));
  if (group != nullptr) {
    DISTRUN_EXPECT(group->ranks() == some);
    expect_sum_over(*group);
  }
  expect_sum_over(*default_group());
}

DISTRUN_TEST_F(DistBackendFlow, opens_before_the_body_and_destroys_after_it) {
  rank.note("rows", "[row:distbackend/_run-flow] [row:distbackend/set-up-order] [row:distbackend/tear-down-order]");
  DISTRUN_EXPECT(collectives::is_initialized());
  expect_sum_over(*default_group());
}

DISTRUN_TEST_F(DistBackendFlow, does_so_around_each_test) {
  rank.note("rows", "[row:distbackend/_run-flow]");
  DISTRUN_EXPECT(default_group()->sequence_number() == 0);
  expect_sum_over(*default_group());
}

DISTRUN_TEST_F(SingleProcessGroup, is_open_around_a_test) {
  rank.note("rows", "[row:dynamo/DynamoDistributedSingleProcTestCase]");
  DISTRUN_EXPECT(variable("MASTER_ADDR") == "127.0.0.1");
  DISTRUN_EXPECT(std::atoi(variable("MASTER_PORT").c_str()) > 0);
  DISTRUN_EXPECT(collectives::is_initialized());
  const auto group = default_group();
  DISTRUN_EXPECT(group->rank() == 0);
  DISTRUN_EXPECT(group->size() == 1);
  DISTRUN_EXPECT(group->backend() == rank.backend());
  DISTRUN_EXPECT(home() == (rank.backend() == "nccl" ? device::cuda(0) : device::kCpu));
  DISTRUN_EXPECT(group->sequence_number() == 0);
  expect_sum_over(*group);
}

DISTRUN_TEST_F(TestDistBackend, groups_have_a_minute) {
  rank.note("rows", "[row:timeout/process-group-timeouts]");
  expect_timeout(minutes(1));
}

DISTRUN_TEST_F(PatientDistBackend, groups_have_five_minutes) {
  rank.note("rows", "[row:timeout/process-group-timeouts]");
  expect_timeout(minutes(5));
}

DISTRUN_TEST_F(QuickDistBackend, groups_have_five_seconds) {
  rank.note("rows", "[row:timeout/process-group-timeouts]");
  expect_timeout(seconds(5));
}

DISTRUN_TEST_F(QuickDistBackend, a_rank_may_be_taken_down, .may_die = {dies_by_signal(1, SIGKILL)},
               .skip = {require_world_size(2),
                        skip_if(ranks_share_process, "a rank that dies needs its own process")}) {
  rank.note("rows", "[row:distbackend/set-up-order]");
  const auto group = default_group();
  if (rank.rank() == 1) std::raise(SIGKILL);
  DISTRUN_EXPECT_THROWS(PeerFailed, "rank 1 is gone", group->barrier());
  DISTRUN_EXPECT_THROWS(Error, "can no longer be used", group->barrier());
}
