// The suite of devices, tensors and gradients: it lists what expected_tests.txt says, and each test passes with one
// rank and with four, on the CPU alone and with virtual devices, in each isolation in which it can run.
#include <catch2/catch.hpp>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "run_case.hpp"

namespace {

using namespace distrun::testing;

struct Wanted {
  bool needs_gpus = false;
  std::set<std::string> isolations;  // empty: all

  std::string verdict(bool has_gpus, const std::string& isolation) const {
    const bool runs = (has_gpus || !needs_gpus) && (isolations.empty() || isolations.contains(isolation));
    return runs ? "pass" : "skip";
  }
};

std::map<std::string, Wanted> expected_tests() {
  std::map<std::string, Wanted> tests;
  std::ifstream file(DISTRUN_TENSOR_SUITE_EXPECTED);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    std::string id;
    words >> id;
    Wanted& wanted = tests[id];
    for (std::string word; words >> word;) {
      if (word == "gpus") {
        wanted.needs_gpus = true;
      } else {
        wanted.isolations.insert(word);
      }
    }
  }
  return tests;
}

void check_run(const Texts& arguments, bool has_gpus, const std::string& isolation) {
  const CaseRun run = run_tests(DISTRUN_TENSOR_SUITE, {"*"}, arguments);
  const std::map<std::string, Wanted> wanted = expected_tests();
  CHECK(run.summary.tests.size() == wanted.size());
  for (const auto& [id, test] : wanted) {
    INFO(id << ": " << run.test(id).message);
    CHECK(run.test(id).verdict == test.verdict(has_gpus, isolation));
  }
}

}  // namespace

TEST_CASE("every test of the tensor suite passes, with one rank and four, on every device", "[suite]") {
  const std::string ranks = GENERATE(values<std::string>({"1", "4"}));
  const bool has_gpus = GENERATE(false, true);
  INFO(ranks << " ranks, " << (has_gpus ? "virtual devices" : "no device"));
  Texts arguments{"--world-size", ranks, "--gpu-driver", has_gpus ? "virtual" : "none"};
  if (has_gpus) arguments.insert(arguments.end(), {"--gpus", "2"});
  check_run(arguments, has_gpus, "process");
}

TEST_CASE("every test of the tensor suite passes on virtual devices in each isolation", "[suite]") {
  const std::string isolation = GENERATE(values<std::string>({"exec", "pool", "threads"}));
  INFO(isolation);
  check_run({"--gpu-driver", "virtual", "--gpus", "2", "--isolation", isolation, "--leaks", "strict"}, true, isolation);
}
