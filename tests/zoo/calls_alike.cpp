// Tests with the runtime that only look like hangs: see alike.cpp.
#include <distrun/collectives.hpp>
#include <distrun/dist_autograd.hpp>

#include <mutex>

#include "zoo.hpp"

namespace {

using namespace distrun;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kLong = 1500ms;

int add_one(int x) { return x + 1; }
DISTRUN_RPC(add_one)

int answer_late() {
  std::this_thread::sleep_for(kLong);
  return 1;
}
DISTRUN_RPC(answer_late)

std::mutex guarded;
int lock_guarded() {
  const std::lock_guard lock(guarded);
  return 1;
}
DISTRUN_RPC(lock_guarded)

}  // namespace

DISTRUN_TEST(AlikeCalls, in_both_directions) {
  init_rpc(rank);
  int x = 0;
  for (const auto end = Clock::now() + kLong; Clock::now() < end;) x = rpc_sync(1 - rank.rank(), add_one, x);
  DISTRUN_EXPECT(x > 0);
  rpc::shutdown();
}

DISTRUN_TEST(AlikeCalls, answered_late) {
  init_rpc(rank);
  if (rank.rank() == 0) DISTRUN_EXPECT(rpc_sync(1, answer_late) == 1);
  rpc::shutdown();
}

// A cycle over two ranks that ends by the timeouts of its calls.
DISTRUN_TEST(AlikeCalls, that_time_out_under_a_lock) {
  init_rpc(rank, std::make_shared<rpc::PipeOptions>(4, 1.5));
  {
    const std::lock_guard lock(guarded);
    rank.barrier("both have locked");
    DISTRUN_EXPECT_THROWS(Error, "", rpc_sync(1 - rank.rank(), lock_guarded));
    rank.barrier("both have given up");
  }
  rpc::shutdown();
}

DISTRUN_TEST(AlikeGroups, again_and_again) {
  const auto group = init_process_group(rank);
  const Tensor tensor = ones({1000});
  for (int i = 0; i < 150; ++i) {
    if (rank.rank() == 1) std::this_thread::sleep_for(10ms);
    group->all_reduce(tensor, ReduceOp::Max);
  }
}

DISTRUN_TEST(AlikeGroups, with_a_late_rank) {
  const auto group = init_process_group(rank);
  if (rank.rank() == 1) std::this_thread::sleep_for(kLong);
  group->all_reduce(ones({4}));
}

// Two groups, one after the other, in the same order on all ranks; the second one waits for the late rank.
DISTRUN_TEST(AlikeGroups, one_after_the_other) {
  const auto world = init_process_group(rank);
  const auto one = new_group({0, 1});
  const auto two = new_group({1, 2});
  if (rank.rank() == 0) std::this_thread::sleep_for(kLong);
  if (rank.rank() <= 1) one->all_reduce(ones({4}));
  if (rank.rank() >= 1) two->all_reduce(ones({4}));
}

DISTRUN_TEST(AlikeStores, with_a_key_that_is_set_late) {
  if (rank.rank() == 1) std::this_thread::sleep_for(kLong), store(rank)->set("late", "here");
  DISTRUN_EXPECT(store(rank)->get("late") == "here");
}

DISTRUN_TEST(AlikeDevices, with_a_slow_stream) {
  const Stream stream = device::stream_from_pool(device::cuda(0));
  stream.driver().call_host(stream.ref(), [] { std::this_thread::sleep_for(kLong); });
  stream.synchronize();
  rank.barrier("meet");
}
