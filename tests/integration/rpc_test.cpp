// The example of RPC: distrun prints what its page shows.
#include <catch2/catch.hpp>

#include <regex>
#include <string>

#include "compare.hpp"
#include "programs.hpp"

namespace {

using namespace distrun::testing;

// Returns the text about the call that hung; the whole text if it is absent.
std::string hang_explanation(const std::string& text) {
  std::smatch found;
  const std::regex line("RPCErr:1:RPC ran for more than set timeout[^\n]*message 1; rank 1 runs it");
  return std::regex_search(text, found, line) ? found.str() : "no explanation in: " + text;
}

}  // namespace

TEST_CASE("a call with a callee that hangs is reported as the example's page shows") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run({"--world-size", "2", "--filter", "Ping.waits_for_a_token", DISTRUN_RPC_PING});
  CHECK(ended.exit_code == 1);
  CHECK(hang_explanation(ended.out) == hang_explanation(read_file(DISTRUN_RPC_PING_PAGE)));
}

TEST_CASE("the RPC example calls its neighbour with two ranks and many, as processes and as threads") {
  const std::string ranks = GENERATE(values<std::string>({"2", "7"}));
  const Sandbox sandbox(distrun_program());
  CHECK(sandbox.run({"--world-size", ranks, "--filter", "Ping.calls*", DISTRUN_RPC_PING}).exit_code == 0);
  CHECK(sandbox
            .run({"--world-size", ranks, "--filter", "Ping.calls*", "--isolation", "threads", "--agent", "inproc",
                  DISTRUN_RPC_PING})
            .exit_code == 0);
}

TEST_CASE("a fault plan is applied to a test that does not know of it") {
  const Sandbox sandbox(distrun_program());
  const std::string isolation = GENERATE(values<std::string>({"process", "threads"}));
  const auto run = [&](const std::string& faults) {
    return sandbox.run({"--world-size", "3", "--isolation", isolation, "--faults", faults, "--filter", "Ping.calls*",
                        DISTRUN_RPC_PING});
  };
  CHECK(run("1:dup:reply:1,delay:call:0.01,reorder:any:0.5:2,drop:retriable:1").exit_code == 0);
  const Ended failed = run("1:fail:call:1");
  CHECK(failed.exit_code == 1);
  CHECK_THAT(failed.out, Catch::Contains("RPCErr:2:Send attempt failed intentionally for call to worker") &&
                             Catch::Contains("--agent faulty --faults 1:fail:call:1"));
  const Ended cut = run("1:cut:1@1");
  CHECK(cut.exit_code == 1);
  // The error belongs to the first worker that sent to worker 1, or to worker 1 itself.
  CHECK_THAT(cut.out, Catch::Contains(" is gone: the connection was cut, as the fault plan requires"));
}
