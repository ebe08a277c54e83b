// Groups, and subgroups.
#include "values.hpp"

namespace {

using namespace distrun;
using namespace distrun::suites;

Tensor one() { return here(tensor::ones({1})); }

}  // namespace

DISTRUN_SUITE(Groups, .skip = {needs_gpus_for_nccl()});
DISTRUN_SUITE(MonitoredBarrier,
              .skip = {not_with_nccl("its messages stay on the host, and do not wait for an absent rank")});

DISTRUN_TEST(Groups, of_some_ranks) {
  const auto world = init_process_group(rank);
  std::vector<int> even;
  for (int place = 0; place < world->size(); place += 2) even.push_back(place);
  const auto group = new_group(even);
  DISTRUN_EXPECT((group != nullptr) == (rank.rank() % 2 == 0));
  if (group != nullptr) {
    const Tensor tensor = one();
    group->all_reduce(tensor);
    expect_same(tensor, here(tensor::full({1}, static_cast<double>(even.size()))));
    DISTRUN_EXPECT(group->ranks() == even);
    DISTRUN_EXPECT(group->rank() == rank.rank() / 2);
    group->barrier();
  }
  world->barrier();
}

DISTRUN_TEST(Groups, of_one_rank_each) {
  const auto world = init_process_group(rank);
  for (int place = 0; place < world->size(); ++place) {
    const auto alone = new_group({place});
    if (alone == nullptr) continue;
    const Tensor tensor = numbers_of(rank.rank(), 100'000);
    alone->all_reduce(tensor);
    alone->barrier();
    expect_same(tensor, numbers_of(rank.rank(), 100'000));
  }
}

DISTRUN_TEST(Groups, in_another_order) {
  const auto world = init_process_group(rank);
  std::vector<int> reverse;
  for (int place = world->size(); place-- > 0;) reverse.push_back(place);
  const auto group = new_group(reverse);
  DISTRUN_EXPECT(group->rank() == world->size() - 1 - world->rank());
  const Tensor tensor = numbers_of(rank.rank(), 9);
  group->broadcast(tensor, 0);
  expect_same(tensor, numbers_of(world->size() - 1, 9));
}

DISTRUN_TEST(Groups, by_colour_and_key) {
  const auto world = init_process_group(rank);
  const auto half = split(*world, rank.rank() % 2, -rank.rank());
  DISTRUN_EXPECT(half->size() == (world->size() + 1 - rank.rank() % 2) / 2);
  DISTRUN_EXPECT(half->ranks().back() == rank.rank() % 2);  // the keys reverse the order
  const Tensor tensor = one();
  half->all_reduce(tensor);
  expect_same(tensor, here(tensor::full({1}, half->size())));
  DISTRUN_EXPECT(split(*world, -1) == nullptr);
}

DISTRUN_TEST(Groups, work_side_by_side) {
  const auto world = init_process_group(rank);
  const auto first = new_group(world->ranks()), second = new_group(world->ranks());
  const Tensor a = one(), b = one();
  // Every other rank uses another order: calls are ordered within each group only.
  const bool turned = rank.rank() % 2 == 1;
  const Work one_work = (turned ? second : first)->all_reduce(turned ? b : a, ReduceOp::Sum, {.async = true});
  const Work other_work = (turned ? first : second)->all_reduce(turned ? a : b, ReduceOp::Sum, {.async = true});
  one_work.wait();
  other_work.wait();
  expect_same(a, here(tensor::full({1}, world->size())));
  expect_same(b, here(tensor::full({1}, world->size())));
}

DISTRUN_TEST(Groups, are_made_once_and_again) {
  DISTRUN_EXPECT_THROWS(Error, "Default process group has not been initialized", default_group());
  const auto world = init_process_group(rank);
  DISTRUN_EXPECT_THROWS(Error, "trying to initialize the default process group twice!", init_process_group(rank));
  DISTRUN_EXPECT(default_group() == world);
  DISTRUN_EXPECT(world->name() == "world");
  world->barrier();
  destroy_process_group();
  const auto again = init_process_group(rank);
  again->barrier();
  DISTRUN_EXPECT_THROWS(Error, "can no longer be used", world->barrier());
}

DISTRUN_TEST(Groups, that_can_not_be) {
  const auto world = init_process_group(rank);
  DISTRUN_EXPECT_THROWS(Error, "are not all in group world", new_group({0, world->size()}));
  DISTRUN_EXPECT_THROWS(Error, "have 0 twice", new_group({0, 0}));
  world->barrier();
}

DISTRUN_TEST(Groups, of_backends_that_are_not_there_say_why) {
  const auto init = [&](const char* name) { init_process_group(rank, {.backend = name}); };
  DISTRUN_EXPECT_THROWS(Error, "without MPI", init("mpi"));
  DISTRUN_EXPECT_THROWS(Error, "without UCC", init("ucc"));
  DISTRUN_EXPECT_THROWS(Error, "unknown backend \"smoke\"; expected shm, ", init("smoke"));
}

DISTRUN_TEST(MonitoredBarrier, lets_all_pass) {
  const auto group = init_process_group(rank);
  for (int i = 0; i < 10; ++i) monitored_barrier(*group);
  monitored_barrier(*group, std::chrono::nanoseconds::max());
}
