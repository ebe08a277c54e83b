// The example of RPC: what its page shows is what distrun says.
#include <catch2/catch.hpp>

#include <regex>
#include <string>

#include "compare.hpp"
#include "programs.hpp"

namespace {

using namespace distrun::testing;

// What is said of the call that hung; without it the whole text.
std::string explanation(const std::string& text) {
  std::smatch found;
  const std::regex line("RPCErr:1:RPC ran for more than set timeout[^\n]*message 1; rank 1 runs it");
  return std::regex_search(text, found, line) ? found.str() : "no explanation in: " + text;
}

}  // namespace

TEST_CASE("a call whose callee hangs is told as the example's page shows it") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run({"--world-size", "2", "--filter", "Ping.waits_for_a_token", DISTRUN_RPC_PING});
  CHECK(ended.exit_code == 1);
  CHECK(explanation(ended.out) == explanation(read_file(DISTRUN_RPC_PING_PAGE)));
}

TEST_CASE("the example of RPC calls its neighbour with two ranks and many, as processes and as threads") {
  const std::string ranks = GENERATE(values<std::string>({"2", "7"}));
  const Sandbox sandbox(distrun_program());
  CHECK(sandbox.run({"--world-size", ranks, "--filter", "Ping.calls*", DISTRUN_RPC_PING}).exit_code == 0);
  CHECK(sandbox
            .run({"--world-size", ranks, "--filter", "Ping.calls*", "--isolation", "threads", "--agent", "inproc",
                  DISTRUN_RPC_PING})
            .exit_code == 0);
}
