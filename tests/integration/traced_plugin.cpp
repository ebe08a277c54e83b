// Rank actions for a trace to show: calls, collectives, operators, stream work, and ways to end.
#include <distrun/collectives.hpp>
#include <distrun/rpc.hpp>
#include <distrun/tensors.hpp>
#include <distrun/test.hpp>

#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>

using namespace distrun;

namespace {

int doubled(int number) { return 2 * number; }
DISTRUN_RPC(doubled)

bool has_mapped(const std::string& what) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(what) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

DISTRUN_TEST(Traced, calls, .world_size = fixed(2)) {
  init_rpc(rank);
  if (rank.rank() == 0) {
    DISTRUN_EXPECT(rpc_sync(1, doubled, 21) == 42);
    DISTRUN_EXPECT(rpc_async(1, doubled, 4).wait() == 8);
  }
  rank.barrier("all have called");
  rpc::shutdown();
}

DISTRUN_TEST(Traced, computes, .world_size = fixed(2), .devices = 1) {
  const profiler::Span forward("forward");
  const Device gpu = device::cuda(0);
  const Tensor sum = add(full({3}, 1, {DType::F32, gpu}), full({3}, 2, {DType::F32, gpu}));
  DISTRUN_EXPECT(equal(to(sum, device::kCpu), full({3}, 3)));
  init_process_group(rank)->all_reduce(full({2}, 1));
}

// Waits for a rank that never arrives.
DISTRUN_TEST(Traced, hangs, .world_size = fixed(2)) {
  rank.barrier("both begin");
  if (rank.rank() == 0) rank.receive(1, "word");
  while (true) ::pause();
}

// A barrier may end before either rank waits, so the killed rank has a wait of its own before.
DISTRUN_TEST(Traced, is_killed, .world_size = fixed(2)) {
  rank.barrier("both live");
  if (rank.rank() == 1) {
    DISTRUN_EXPECT_THROWS(Error, ErrorKind::Timeout, rank.receive(0, "nothing", std::chrono::milliseconds(1)));
    ::raise(SIGKILL);
  }
  rank.receive(1, "word");
}

DISTRUN_TEST(Traced, has_odd_names, .world_size = fixed(2)) { rank.barrier("a \"quoted\"\n\x01 name\\\xff"); }

DISTRUN_TEST(Traced, is_not_traced, .world_size = fixed(2)) {
  DISTRUN_EXPECT(std::getenv("DISTRUN_TRACE_AREA") == nullptr);
  DISTRUN_EXPECT(!has_mapped("distrun-trace"));
}
