// A ring all_reduce by point-to-point messages between neighbours, compared with the group's own. Run it with
//
//   distrun all_reduce.so
//   distrun --world-size 7 all_reduce.so
#include <distrun/collectives.hpp>
#include <distrun/tensors.hpp>
#include <distrun/test.hpp>

using namespace distrun;

namespace {

// Each rank adds up one piece as it goes round, then the sums go round: 2 (n - 1) steps, each of 1 / n of the tensor.
void ring_all_reduce(ProcessGroup& group, const Tensor& tensor) {
  const int n = group.size(), own = group.rank();
  const int next = (own + 1) % n, before = (own + n - 1) % n;
  const std::int64_t piece = tensor.numel() / n;
  const auto piece_of = [&](int rank) { return tensor::narrow(tensor, 0, (rank + 2 * n) % n * piece, piece); };
  const Tensor got = tensor::empty({piece});
  for (int step = 0; step < 2 * (n - 1); ++step) {
    const Work sending = group.send(tensor::clone(piece_of(own - step)), next, 0, {.async = true});
    group.receive(got, before);
    const Tensor into = piece_of(own - step - 1);
    tensor::copy_(into, step < n - 1 ? tensor::add(into, got) : got);
    sending.wait();
  }
}

}  // namespace

DISTRUN_TEST(AllReduce, by_a_ring_is_that_of_the_group) {
  const auto group = init_process_group(rank);
  const Tensor by_ring = full({100'000 * rank.world_size()}, rank.rank() + 1);
  const Tensor by_group = tensor::clone(by_ring);
  ring_all_reduce(*group, by_ring);
  group->all_reduce(by_group);
  DISTRUN_EXPECT(tensor::is_close(by_ring, by_group));
}
