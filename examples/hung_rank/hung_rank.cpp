// Four ranks that hang, each for another reason. README.md, "When ranks hang", shows how to find out. Run it with
//
//   distrun --timeout 60s hung_rank.so
//
// and use `distrun ps` and `distrun stacks` from another terminal.
#include <unistd.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <thread>

#include <distrun/test.hpp>

namespace training {

std::mutex weights;
std::mutex gradients;
std::latch both_have_one{2};
std::atomic<bool> optimizer_done{false};

[[gnu::noinline]] void apply_gradients() {
  const std::lock_guard first(weights);
  both_have_one.arrive_and_wait();
  const std::lock_guard second(gradients);
}

[[gnu::noinline]] void average_gradients() {
  const std::lock_guard first(gradients);
  both_have_one.arrive_and_wait();
  const std::lock_guard second(weights);
}

// Two threads take the same two locks in opposite order.
[[gnu::noinline]] void step_with_locks() {
  std::thread helper(average_gradients);
  apply_gradients();
  helper.join();
}

// Reads from a pipe that is never written.
[[gnu::noinline]] void load_shard() {
  int ends[2];
  DISTRUN_REQUIRE(::pipe(ends) == 0);
  char row = 0;
  DISTRUN_EXPECT(::read(ends[0], &row, 1) == 1);
}

// Polls without sleeping for an event that never happens.
[[gnu::noinline]] void poll_optimizer() {
  while (!optimizer_done) {
  }
}

}  // namespace training

DISTRUN_TEST(Training, finishes_an_epoch) {
  if (rank.rank() == 0) training::step_with_locks();
  if (rank.rank() == 1) training::load_shard();
  if (rank.rank() == 2) training::poll_optimizer();
  rank.barrier("epoch");
}
