// A run uses the resources of its hosts, which are nodes of this machine: CPUs, GPUs, and the end of their allocation.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "programs.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;
using Texts = std::vector<std::string>;

Command command_on_hosts(const Sandbox& sandbox, const Texts& more, const Texts& variables = {}) {
  Texts words{"run", "--hosts", "a,b", "--launcher", "local", "--output", sandbox.output()};
  words.insert(words.end(), more.begin(), more.end());
  Command command = sandbox.command(words);
  command.environment.insert(command.environment.end(), variables.begin(), variables.end());
  return command;
}

Ended run_on_hosts(const Sandbox& sandbox, const Texts& more, const Texts& variables = {}) {
  return Running(command_on_hosts(sandbox, more, variables)).wait(at_latest(milliseconds(60'000)));
}

std::string message_of(const Sandbox& sandbox, std::size_t test) { return sandbox.summary().tests.at(test).message; }

}  // namespace

TEST_CASE("with --jobs auto, as many tests run side by side as Slurm gives CPUs to all hosts", "[hosts]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended =
      run_on_hosts(sandbox, {"--jobs", "auto", "-w", "2", "--filter", "Passes.world_of_*", plugin("passes")},
                   {"SLURM_CPUS_ON_NODE=1"});
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(nlohmann::json::parse(read_file(sandbox.output() + "/summary.json"))["settings"]["jobs"] == 2);
  CHECK_THAT(ended.out, Contains("2 tests in parallel"));
}

TEST_CASE("each rank gets a device of its own host, and sees as many as there are", "[hosts]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = run_on_hosts(sandbox,
                                   {"--gpu-driver", "virtual", "--gpus", "2", "--filter", "OwnDevice.is_the_only_one",
                                    "--filter", "Devices.all_for_all", plugin("devices")},
                                   {"CUDA_VISIBLE_DEVICES=5,3"});
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  const Summary summary = sandbox.summary();
  REQUIRE(summary.tests.size() == 2);
  for (const TestResult& test : summary.tests) CHECK(test.verdict == "pass");
  CHECK(summary.tests.at(1).attempts.at(0).ranks.size() == 4);
}

TEST_CASE("a test is skipped if one of its hosts lacks devices, which is named", "[hosts]") {
  const Sandbox sandbox(distrun_program());
  const Ended emulated = run_on_hosts(
      sandbox, {"--gpu-driver", "virtual", "--gpus", "1", "--filter", "Devices.all_for_all", plugin("devices")});
  INFO(emulated.out << emulated.err);
  CHECK(message_of(sandbox, 0) == "needs 2 devices on a, which has 1");
  const Ended hidden =
      run_on_hosts(sandbox, {"--filter", "Devices.all_for_all", plugin("devices")}, {"CUDA_VISIBLE_DEVICES=-1"});
  INFO(hidden.out << hidden.err);
  CHECK_THAT(message_of(sandbox, 0), Contains("needs 2 devices; this run has none: "));
  CHECK_THAT(message_of(sandbox, 0), Contains(" on a") || Contains("a has no NVIDIA device"));
}

TEST_CASE("a run whose allocation is about to end says so, runs nothing, and is incomplete", "[hosts]") {
  const Sandbox sandbox(distrun_program());
  const auto end = std::to_string(::time(nullptr) + 20);
  const Ended ended = run_on_hosts(sandbox, {"--filter", "Passes.*", plugin("passes")},
                                   {"SLURM_JOB_ID=17", "SLURM_JOB_END_TIME=" + end});
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == kInfraError);
  CHECK_THAT(ended.out, Contains("notice: the allocation (Slurm job 17) ends in ") &&
                            Contains(": no further test or attempt begins, and what still runs in "));
  CHECK_THAT(ended.out, Contains("problem: run: the allocation (Slurm job 17) has ended it early; 0 of "));
  CHECK(sandbox.summary().tests.empty());
}
