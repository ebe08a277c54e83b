// Effects of the user's options on the console, and the number of concurrent tests.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <string>
#include <utility>

#include "compare.hpp"
#include "programs.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

}  // namespace

TEST_CASE("with --jobs auto there is a job for each core", "[cli]") {
  const Sandbox sandbox(distrun_program());
  CHECK(
      sandbox
          .run({"run", "--output", sandbox.output(), "--jobs", "auto", "--filter", "Passes.trivial", plugin("passes")})
          .exit_code == 0);
  CHECK_THAT(read_file(sandbox.output() + "/summary.json"),
             Contains("\"jobs\": " + std::to_string(::sysconf(_SC_NPROCESSORS_ONLN)) + ","));
}

TEST_CASE("output of passing tests is shown on request, and with --quiet only problems are", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const auto console = [&](Texts options) {
    options.insert(options.begin(), "run");
    options.insert(options.end(), {"--filter", "Floods.after_the_result", "--filter", "Fails.require", plugin("floods"),
                                   plugin("fails")});
    const Ended ended = sandbox.run(std::move(options));
    CHECK(ended.exit_code == 1);
    return ended.out;
  };
  const std::string usual = console({});
  CHECK_THAT(usual, Contains("pass ") && Contains("fail: Fails.require"));
  CHECK_THAT(usual, !Contains("said after the result"));
  CHECK_THAT(console({"--show-output"}), Contains("said after the result"));
  const std::string quiet = console({"--quiet"});
  CHECK_THAT(quiet, Contains("fail: Fails.require"));
  CHECK_THAT(quiet, !Contains("Floods.after_the_result"));
}

TEST_CASE("with --live-output, lines of ranks are shown while they run, and not again with the failure", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const std::string isolation = GENERATE("process", "pool", "threads");
  INFO(isolation);
  const Command command =
      sandbox.command({"run", "--live-output", "--isolation", isolation, "--output", sandbox.output(), "--filter",
                       "Prints.then_hangs", "--timeout-override", "60s", plugin("prints")});
  Running running(command);
  const std::string line = isolation == "threads" ? "[ranks] a line of printf()\n" : "[rank 1] a line of printf()\n";
  const auto shown = [&] { return read_file(command.capture + ".out"); };
  CHECK(eventually(at_latest(std::chrono::seconds(10)), [&] { return shown().find(line) != std::string::npos; }));
  running.signal(SIGINT);
  const Ended ended = running.wait(at_latest(std::chrono::seconds(20)));
  const std::string all = ended.out;
  CHECK(all.find("running ") < all.find(line));
  CHECK(all.find(line) == all.rfind(line));
  CHECK_THAT(all, Contains("cancelled") || Contains("interrupted"));
}
