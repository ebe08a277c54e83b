// The suite of tensors and gradients: it lists what expected_tests.txt says, and each test passes with one rank and
// with four, on the CPU alone and with virtual devices.
#include <catch2/catch.hpp>

#include <fstream>
#include <set>

#include "run_case.hpp"

namespace {

using namespace distrun::testing;

std::set<std::string> expected_tests() {
  std::set<std::string> tests;
  std::ifstream file(DISTRUN_TENSOR_SUITE_EXPECTED);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.front() != '#') tests.insert(line);
  }
  return tests;
}

}  // namespace

TEST_CASE("every test of the tensor suite passes, with one rank and four, on every device", "[suite]") {
  const std::string ranks = GENERATE(values<std::string>({"1", "4"}));
  const bool has_gpus = GENERATE(false, true);
  Texts arguments{"--world-size", ranks};
  if (has_gpus) arguments.insert(arguments.end(), {"--gpu-driver", "virtual", "--gpus", "2"});
  const CaseRun run = run_tests(DISTRUN_TENSOR_SUITE, {"*"}, arguments);
  const std::set<std::string> wanted = expected_tests();
  CHECK(run.summary.tests.size() == wanted.size());
  for (const std::string& id : wanted) {
    const TestResult& test = run.test(id);
    INFO(id << " with " << ranks << " ranks: " << test.message);
    CHECK(test.verdict == "pass");
  }
}
