// A training step in which one rank calls another collective. README.md in this folder shows distrun's report.
#include <distrun/collectives.hpp>
#include <distrun/tensors.hpp>
#include <distrun/test.hpp>

using namespace distrun;

namespace {

void average(ProcessGroup& group, const Tensor& gradient) { group.all_reduce(gradient, ReduceOp::Avg); }

// The mistake: only rank 1's data overflow, and so only rank 1 calls this broadcast.
void agree_on_scale(ProcessGroup& group, const Tensor& scale) { group.broadcast(scale); }

}  // namespace

DISTRUN_TEST(Training, step) {
  const auto group = init_process_group(rank);
  const Tensor gradient = full({1024}, rank.rank()), scale = ones({1});
  average(*group, gradient);
  const bool overflows = rank.rank() == 1;
  if (overflows) agree_on_scale(*group, scale);
  average(*group, gradient);
}
