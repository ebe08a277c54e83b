// Ranks that call each other, as processes and as threads: checks the tests' results and distrun's messages.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "compare.hpp"
#include "programs.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

Ended run_rpc_ranks(const Sandbox& sandbox, bool as_threads, const std::string& test) {
  std::vector<std::string> arguments{"--gpu-driver", "virtual", "--gpus", "2", "--filter", "RpcRanks." + test};
  if (as_threads) arguments.insert(arguments.end(), {"--isolation", "threads", "--agent", "inproc"});
  arguments.push_back(DISTRUN_RPC_RANKS);
  return sandbox.run(arguments);
}

}  // namespace

TEST_CASE("a tensor of a virtual GPU is sent to another rank by the device map, and its result comes back by it") {
  const bool as_threads = GENERATE(false, true);
  const Sandbox sandbox(distrun_program());
  const Ended ended = run_rpc_ranks(sandbox, as_threads, "tensors_go*");
  INFO(ended.out + ended.err);
  CHECK(ended.exit_code == 0);
  CHECK_THAT(ended.out, Contains("1 pass in"));
}

TEST_CASE("an error of another rank's function is reported with where it was thrown there") {
  const bool as_threads = GENERATE(false, true);
  const Sandbox sandbox(distrun_program());
  const Ended ended = run_rpc_ranks(sandbox, as_threads, "lets_an_error_out");
  INFO(ended.out + ended.err);
  CHECK(ended.exit_code == 1);
  CHECK_THAT(ended.out, Contains("On WorkerInfo(id=1, name=worker1)") && Contains("ValueError: it is 0"));
  CHECK_THAT(ended.out, Contains("thrown in (anonymous namespace)::check_positive(int) at ") &&
                            Contains("called by (anonymous namespace)::half_of(int) at ") &&
                            Contains("/rpc_ranks_plugin.cpp:"));
}
