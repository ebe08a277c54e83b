// The mutation lists of all suites, and the negative control of the harness's.
#include <catch2/catch.hpp>

#include "control.hpp"

namespace {

using namespace distrun::testing;

const ControlledSuite kHarness{DISTRUN_MUTATED_HARNESS, DISTRUN_MUTATIONS "/harness.mutations",
                               DISTRUN_HARNESS_EXPECTED};

}  // namespace

TEST_CASE("every test of each suite is named by a planted fault that it detects, or has a reason why not") {
  const std::string name = GENERATE(values<std::string>(
      {"collectives", "cuda_rpc", "dist_autograd", "harness", "profiler", "rpc", "rref", "tensor"}));
  INFO(name);
  check_list({"", DISTRUN_MUTATIONS "/" + name + ".mutations", DISTRUN_SUITES "/" + name + "/expected_tests.txt"});
}

TEST_CASE("every test of the harness suite fails under its mutation", "[suite]") { check_control(kHarness); }
TEST_CASE("the harness suite with unused mutations passes", "[suite]") { check_honest(kHarness); }
