// distrun's answers to the completion scripts of shells; tests/shell tests the scripts themselves.
#include <catch2/catch.hpp>

#include <csignal>
#include <string>
#include <vector>

#include "compare.hpp"
#include "programs.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

using Texts = std::vector<std::string>;

Ended completed(const Sandbox& sandbox, const Texts& words) {
  Texts arguments = {"complete", "--"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  return sandbox.run(arguments);
}

}  // namespace

TEST_CASE("completion lists matching words, with descriptions", "[cli]") {
  const Sandbox sandbox(distrun_program());
  CHECK(completed(sandbox, {"--isolation", "e"}).out == "exec\t\n");
  CHECK_THAT(completed(sandbox, {"--until"}).out, Catch::StartsWith("--until-fail\tRun every test until"));
  CHECK(completed(sandbox, {"--json", ""}).out == ":paths\n");
  CHECK(completed(sandbox, {"--nonsense"}).out.empty());
}

TEST_CASE("completion names the tests of the plugin on the line, each as a filter that selects it alone", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const Ended found = completed(sandbox, {plugin("passes"), "--filter", ""});
  CHECK(found.exit_code == 0);
  CHECK_THAT(found.out, Contains("Passes.world_of_2\n") && Contains("Passes.parameters/dtype=f32,count=4096\n"));
  CHECK_THAT(completed(sandbox, {plugin("passes"), "--filter="}).out, Contains("--filter=Passes.world_of_2\n"));
  CHECK(sandbox.remains().empty());
}

TEST_CASE("completion does not wait for a plugin that hangs, and is not disturbed by one that crashes", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const Ended hangs = completed(sandbox, {plugin("load_hang"), plugin("load_crash"), plugin("flaky"), "--filter", ""});
  CHECK_FALSE(hangs.out_of_time);
  CHECK(hangs.duration < scaled(milliseconds(15'000)));
  CHECK_THAT(hangs.out, Contains("Flaky.passes\n"));
  CHECK(sandbox.remains().empty());
}

TEST_CASE("completion names the active runs", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const Running running = sandbox.start({"--filter", "Hangs.*", "--timeout", "100s", plugin("hangs")});
  std::string id;  // asked for once: the process that has it may end
  REQUIRE(eventually(scaled(milliseconds(10'000)), [&] { return !(id = sandbox.run_id_in_use()).empty(); }));
  CHECK(eventually(scaled(milliseconds(10'000)), [&] {
    return completed(sandbox, {"stacks", ""}).out.find(id) != std::string::npos;
  }));
  CHECK_THAT(completed(sandbox, {"attach", ""}).out, Contains(id + "\t\n"));
  sandbox.sweep();
}
