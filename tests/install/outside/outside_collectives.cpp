#include <distrun/collectives.hpp>
#include <distrun/tensors.hpp>
#include <distrun/test.hpp>

DISTRUN_TEST(OutsideCollectives, sums, .world_size = fixed(2), .timeout = 10s) {
  const auto group = distrun::init_process_group(rank);
  const distrun::Tensor ones = distrun::ones({4});
  group->all_reduce(ones);
  DISTRUN_EXPECT(!distrun::tensor::difference(ones, distrun::full({4}, rank.world_size())));
}
