// Ranks that call each other; one callee hangs. README.md in this folder shows distrun's report. Run it with
//
//   distrun --world-size 2 rpc_ping.so
#include <distrun/rpc.hpp>
#include <distrun/tensors.hpp>
#include <distrun/test.hpp>

using namespace distrun;

namespace {

int add_twice(int a, int b) { return a + 2 * b; }
DISTRUN_RPC(add_twice)

// The mistake: this future is never completed.
const Future<int> token;

int take_token(int which) { return token.wait() + which; }
DISTRUN_RPC(take_token)

}  // namespace

DISTRUN_TEST(Ping, calls_its_neighbour) {
  init_rpc(rank);
  const int neighbour = (rank.rank() + 1) % rank.world_size();
  DISTRUN_EXPECT(rpc_sync(neighbour, add_twice, 1, 2) == 5);
  DISTRUN_EXPECT(is_close(rpc_sync<Tensor>(neighbour, "add", ones({2, 2}), ones({2, 2})), full({2, 2}, 2)));
  rpc::shutdown();
}

DISTRUN_TEST(Ping, waits_for_a_token) {
  init_rpc(rank);
  if (rank.rank() == 0) DISTRUN_EXPECT(rpc_sync(to("worker1").within(1), take_token, 7) == 8);
  rpc::shutdown();
}
