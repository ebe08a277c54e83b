// GPU time of operators on other workers.
#include <algorithm>
#include <set>

#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;

DISTRUN_SUITE(CudaRpcTest, .world_size = fixed(4));

namespace {

void check_call(const profiler::Event& call) {
  DISTRUN_EXPECT(call.device_time.count() == 0);
  DISTRUN_EXPECT(call.self_device_time.count() == 0);
  DISTRUN_EXPECT(call.kernels.empty());
}

void check_operator(const profiler::Event& event) {
  DISTRUN_EXPECT(event.device_time.count() > 0);
  DISTRUN_REQUIRE(event.kernels.size() == 1u);
  DISTRUN_EXPECT(event.kernels.front().device == (event.node == 2 ? 0 : 1));
  DISTRUN_EXPECT(event.kernels.front().duration == event.device_time);
}

}  // namespace

DISTRUN_TEST_F(CudaRpcTest, profiler_remote_cuda, .devices = 2) {
  if (rank.rank() != kActing) return;
  const Events events = recorded(
      [&] {
        const auto first = rpc_async(rank.worker_name(2), profiled::udf_with_torch_ops, 0, false);
        const auto second = rpc_async(rank.worker_name(3), profiled::udf_with_torch_ops, 1, false);
        first.wait();
        second.wait();
      },
      {.device_time = true});
  const auto& expected = profiled::expected_operators();
  std::set<std::string> found;
  for (const profiler::Event& each : events) {
    if (each.is_async) {
      check_call(each);
      continue;
    }
    if (each.node == kActing) continue;
    DISTRUN_EXPECT((each.node == 2 || each.node == 3));
    const std::string name = operator_of(each);
    if (!each.is_remote || std::find(expected.begin(), expected.end(), name) == expected.end()) continue;
    found.insert(name);
    check_operator(each);
  }
  DISTRUN_EXPECT(found == std::set<std::string>(expected.begin(), expected.end()));
}
