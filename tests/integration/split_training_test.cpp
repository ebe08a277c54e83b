// The example of distributed autograd trains, as processes and as threads.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "programs.hpp"

namespace {

using namespace distrun::testing;

void check_trains(const std::string& ranks, const std::string& test) {
  const Sandbox sandbox(distrun_program());
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, std::vector<std::string>{"--isolation", "threads", "--agent", "inproc"}}) {
    std::vector<std::string> arguments{"--world-size", ranks, "--filter", test, DISTRUN_SPLIT_TRAINING};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended ended = sandbox.run(arguments);
    INFO(ended.out << ended.err);
    CHECK(ended.exit_code == 0);
  }
}

}  // namespace

TEST_CASE("a model that is split over two ranks is trained to the loss of one rank") {
  check_trains("2", "*.as_on_one_rank");
}

TEST_CASE("three workers train the parameters of a fourth") { check_trains("4", "*.by_three_workers"); }
