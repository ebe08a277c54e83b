#include <distrun/rpc.hpp>
#include <distrun/test.hpp>

int outside_add_twice(int a, int b) { return a + 2 * b; }
DISTRUN_RPC(outside_add_twice, "a", "b")

struct OutsidePoint {
  int x = 0;
  int y = 0;
};
DISTRUN_FIELDS(OutsidePoint, m.x, m.y)
OutsidePoint outside_mirrored(const OutsidePoint& point) { return {point.y, point.x}; }
DISTRUN_RPC(outside_mirrored)

DISTRUN_TEST(OutsideRpc, calls_its_neighbour, .world_size = fixed(2), .timeout = 10s) {
  distrun::init_rpc(rank);
  const int neighbour = 1 - rank.rank();
  DISTRUN_EXPECT(distrun::rpc_sync(neighbour, outside_add_twice, 1, 2) == 5);
  DISTRUN_EXPECT(distrun::rpc_sync(neighbour, outside_mirrored, OutsidePoint{1, 2}).x == 2);
  DISTRUN_EXPECT(distrun::remote(neighbour, outside_add_twice, 3, 4).to_here() == 11);
  DISTRUN_EXPECT(distrun::RRef<int>(7).to_here() == 7);
  distrun::rpc::shutdown();
}
