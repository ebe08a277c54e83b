// Groups that are never closed, and the group fixture around bodies that go wrong.
#include <distrun/collectives.hpp>
#include <distrun/tensors.hpp>
#include <distrun/test.hpp>

#include <unistd.h>

#include "support/dist_backend.hpp"

namespace {

using namespace distrun;
using distrun::suites::TestDistBackend;

// Opens a group as if this were the only test of its process.
void open_and_leave_open(const Rank& rank) {
  DISTRUN_EXPECT(!collectives::is_initialized());
  const auto world = init_process_group(rank);
  const auto group = new_group(world->ranks());
  const Tensor tensor = tensor::ones({1});
  group->all_reduce(tensor);
  DISTRUN_EXPECT(*tensor.data_as<float>() == static_cast<float>(rank.world_size()));
}

// Requires a device for each rank, with every backend.
class GatedDistBackend : public TestDistBackend {};

}  // namespace

DISTRUN_SUITE(GatedDistBackend, .skip = {skip_if_too_few_gpus()});

DISTRUN_TEST(LeftOpen, by_a_test) { open_and_leave_open(rank); }
DISTRUN_TEST(LeftOpen, by_the_next_test) { open_and_leave_open(rank); }
DISTRUN_TEST(LeftOpen, by_one_rank_that_others_wait_for) {
  const auto group = init_process_group(rank);
  group->barrier();
  if (!rank.is_master()) DISTRUN_EXPECT_THROWS(PeerFailed, "rank 0", group->barrier());
}

DISTRUN_TEST_F(TestDistBackend, passes) { DISTRUN_EXPECT(collectives::is_initialized()); }
DISTRUN_TEST_F(GatedDistBackend, passes) { DISTRUN_EXPECT(collectives::is_initialized()); }
DISTRUN_TEST_F(TestDistBackend, fails_on_one_rank) {
  if (rank.rank() == 1) DISTRUN_FAIL("the cause");
}
DISTRUN_TEST_F(TestDistBackend, throws_on_one_rank) {
  if (rank.rank() == 1) throw Error(ErrorKind::Failed, "the cause");
}
DISTRUN_TEST_F(TestDistBackend, ends_on_one_rank) {
  if (rank.rank() == 1) _exit(3);
}
DISTRUN_TEST_F(TestDistBackend, skips_on_one_rank) {
  if (rank.rank() == 1) distrun::skip("not for me");
}
