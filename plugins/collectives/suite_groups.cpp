// Groups that a suite opens once for all of its tests: with persistent ranks (--isolation pool, threads) the second
// test finds what the first one has used; otherwise the set-up runs around each test. No test depends on another.
#include "values.hpp"

namespace {

using namespace distrun;
using namespace distrun::suites;

class OpensGroups : public SuiteFixture {
 public:
  void set_up_suite(Rank& rank) override {
    world_ = init_process_group(rank);
    of_world_ = new_group(world_->ranks());
    address_ = std::string(rank.init_method());
    place_ = stores::rendezvous(address_, rank.rank(), rank.world_size(), std::chrono::minutes(1));
    ++set_ups_;
  }
  void tear_down_suite(Rank& rank) override {
    expect_open(rank);
    DISTRUN_EXPECT(set_ups_ == 1);
    destroy_process_group();
  }

  // Checks that the suite's groups are those of its set-up, with all ranks.
  void expect_open(const Rank& rank) {
    DISTRUN_REQUIRE(collectives::is_initialized());
    DISTRUN_EXPECT(default_group() == world_);
    for (const auto& group : {world_, of_world_}) {
      const Tensor tensor = here(tensor::full({2}, rank.rank() + 1));
      group->all_reduce(tensor);
      expect_same(tensor, here(tensor::full({2}, rank.world_size() * (rank.world_size() + 1) / 2.0)));
    }
  }
  ProcessGroup& world() { return *world_; }
  Store& store_of_address() { return *place_->store; }

  // Left by an earlier test of this rank; empty, undefined: no earlier test.
  std::string earlier_child_;
  Tensor earlier_sum_;

 private:
  std::shared_ptr<ProcessGroup> world_, of_world_;
  std::string address_;
  std::optional<stores::Rendezvous> place_;
  int set_ups_ = 0;
};

OpensGroups& suite(Rank& rank) { return rank.suite<OpensGroups>(); }

// The child's ranks meet in the store of the suite's group, where an earlier test's child has left its names.
void expect_own_child(Rank& rank) {
  OpensGroups& opened = suite(rank);
  const auto child = new_group(opened.world().ranks());
  child->barrier();
  DISTRUN_EXPECT(child->name() != opened.earlier_child_);
  opened.earlier_child_ = child->name();
}

// A call without a wait has finished when its test has ended.
void expect_own_call(Rank& rank) {
  OpensGroups& opened = suite(rank);
  if (opened.world().backend() == "nccl") return;  // with nccl, a tensor may not be read before its work was waited for
  if (opened.earlier_sum_.defined()) expect_same(opened.earlier_sum_, tensor::full({3}, rank.world_size()));
  opened.earlier_sum_ = tensor::ones({3});
  opened.world().all_reduce(opened.earlier_sum_, ReduceOp::Sum, {.async = true});
}

}  // namespace

DISTRUN_SUITE_FIXTURE(SuiteGroups, OpensGroups);
DISTRUN_SUITE(SuiteGroups, .skip = {needs_gpus_for_nccl()});

DISTRUN_TEST(SuiteGroups, are_open_in_every_test) {
  rank.note("rows", "[row:continuous/class-set-up] [row:continuous/class-tear-down]");
  suite(rank).expect_open(rank);
}

DISTRUN_TEST(SuiteGroups, are_still_open_in_another_test) {
  rank.note("rows", "[row:continuous/class-set-up] [row:continuous/class-tear-down]");
  suite(rank).expect_open(rank);
}

DISTRUN_TEST(SuiteGroups, have_children) {
  expect_own_child(rank);
  DISTRUN_EXPECT(suite(rank).world().size() == rank.world_size());
}

DISTRUN_TEST(SuiteGroups, have_other_children_in_another_test) {
  expect_own_child(rank);
  DISTRUN_EXPECT(suite(rank).world().size() == rank.world_size());
}

DISTRUN_TEST(SuiteGroups, end_calls_with_their_test) {
  expect_own_call(rank);
  DISTRUN_EXPECT(suite(rank).world().rank() == rank.rank());
}

DISTRUN_TEST(SuiteGroups, end_other_calls_with_another_test) {
  expect_own_call(rank);
  DISTRUN_EXPECT(suite(rank).world().rank() == rank.rank());
}

DISTRUN_TEST(SuiteGroups, keep_the_store_at_which_ranks_met) {
  Store& store = suite(rank).store_of_address();
  store.set("here is " + rank.worker_name(rank.rank()), "yes");
  for (int each = 0; each < rank.world_size(); ++each) {
    DISTRUN_EXPECT(store.get("here is " + rank.worker_name(each)) == "yes");
  }
}
