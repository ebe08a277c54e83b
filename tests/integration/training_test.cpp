// examples/train_network: networks that train in a rank, on the CPU and on two virtual devices.
#include <catch2/catch.hpp>

#include <regex>
#include <string>

#include "programs.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

// Returns the losses that the test printed.
std::vector<double> losses(const Sandbox& sandbox, const std::string& test) {
  const Summary summary = sandbox.summary();
  const TestResult* result = summary.find(test);
  REQUIRE(result != nullptr);
  CHECK(result->verdict == "pass");
  REQUIRE(result->attempts.size() == 1);
  const std::string printed = result->attempts[0].ranks.at(0).out;
  std::vector<double> found;
  const std::regex line("loss ([0-9.]+)");
  for (auto it = std::sregex_iterator(printed.begin(), printed.end(), line); it != std::sregex_iterator(); ++it) {
    found.push_back(std::stod((*it)[1]));
  }
  return found;
}

}  // namespace

TEST_CASE("a network of two layers learns, and prints its loss", "[training]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run({"--world-size", "1", "--output", sandbox.output(), DISTRUN_TRAIN_NETWORK});
  INFO(ended.out + ended.err);
  CHECK(ended.exit_code == 0);
  CHECK_THAT(ended.out, Contains("Training.two_devices_learn_together"));
  const std::vector<double> printed = losses(sandbox, "Training.two_layers_learn_a_curve");
  REQUIRE(printed.size() == 5);
  CHECK(printed.back() < printed.front() / 10);
}

TEST_CASE("the same network learns on two virtual devices", "[training]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run({"--world-size", "1", "--gpu-driver", "virtual", "--gpus", "2", "--output",
                                   sandbox.output(), DISTRUN_TRAIN_NETWORK});
  INFO(ended.out + ended.err);
  CHECK(ended.exit_code == 0);
  const std::vector<double> on_cpu = losses(sandbox, "Training.two_layers_learn_a_curve");
  const std::vector<double> on_gpus = losses(sandbox, "Training.two_devices_learn_together");
  CHECK(on_cpu == on_gpus);
}
